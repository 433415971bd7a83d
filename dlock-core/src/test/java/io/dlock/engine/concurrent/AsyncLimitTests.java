package io.dlock.engine.concurrent;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

class AsyncLimitTests {

	/**
	 * The next key of a set is requested when the time of the caller is over already.
	 */
	@Test
	void requestThatComesTooLateHasNotTheTimeOfATry() {
		TurnedClock clock = new TurnedClock();
		Deadline deadline = Deadline.after(clock, Duration.ofSeconds(1));
		clock.pass(Duration.ofHours(2));
		CompletableFuture<Void> ended = new CompletableFuture<>();
		try (EngineThreads threads = new EngineThreads()) {
			AsyncLimit limit = new AsyncLimit(threads, () -> ended.complete(null));
			limit.begin();
			limit.set(deadline, Duration.ofHours(1));
			assertThat(ended).succeedsWithin(Patience.EVENTUALLY);
		}
	}

}
