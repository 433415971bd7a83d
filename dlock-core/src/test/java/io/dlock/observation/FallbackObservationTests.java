package io.dlock.observation;

import java.util.concurrent.CompletableFuture;

import io.micrometer.observation.Observation;
import io.micrometer.observation.tck.TestObservationRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.DistributedLocked;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The observation of a call whose fallback runs on a thread of dlock.
 */
@Timeout(60)
class FallbackObservationTests extends AbstractDistributedLockedTests {

	private final TestObservationRegistry observations = TestObservationRegistry.create();

	static class Work {

		@DistributedLocked(key = "'key'", fallback = "instead")
		public CompletableFuture<String> run(CompletableFuture<String> current) {
			throw new IllegalStateException("not reached");
		}

		private CompletableFuture<String> instead(CompletableFuture<String> current) {
			return CompletableFuture.completedFuture(current.join());
		}

	}

	@Override
	protected void configure(DistributedLockedBeanPostProcessor postProcessor) {
		postProcessor.setObservations(() -> new LockObservationSettings(this.observations, null, "memory"));
	}

	private String current() {
		Observation current = this.observations.getCurrentObservation();
		return (current != null) ? current.getContextView().getName() : "none";
	}

	/**
	 * Its continuation runs on the same thread.
	 */
	@Test
	void observationEndsOnTheThreadOfAFallback() {
		Work work = bean(Work.class);
		holdElsewhere("key");
		CompletableFuture<String> go = new CompletableFuture<>();
		CompletableFuture<String> seen = work.run(go).thenApply((done) -> done + ", then " + current());
		go.complete("instead");
		assertThat(seen).succeedsWithin(Patience.EVENTUALLY).isEqualTo("instead, then none");
	}

}
