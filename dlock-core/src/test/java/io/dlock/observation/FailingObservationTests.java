package io.dlock.observation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.test.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Observations that fail harm no lock, those of others are as they say, and without any
 * nothing is spent on them.
 */
@Timeout(60)
class FailingObservationTests extends AbstractDistributedLockedTests {

	private ObservationRegistry observations = ObservationRegistry.create();

	private @Nullable LockCallObservationConvention convention;

	private final CapturedLog log = CapturedLog.of(CallObservationFactory.class);

	static class Work {

		@DistributedLocked("'key'")
		public String synchronous() {
			return "locked " + LockHandle.current().isPresent();
		}

		@DistributedLocked("'key'")
		public CompletableFuture<String> future() {
			return CompletableFuture.completedFuture(synchronous());
		}

		@DistributedLocked("'key'")
		public Mono<String> mono() {
			return Mono.just(synchronous());
		}

	}

	private final Work work = bean(Work.class);

	@Override
	protected void configure(DistributedLockedBeanPostProcessor postProcessor) {
		postProcessor.setObservations(() -> new LockObservationSettings(this.observations, this.convention, "memory"));
	}

	@AfterEach
	void stopWatching() {
		this.log.close();
	}

	private void callThemAll() {
		for (int i = 0; i < 2; i++) {
			assertThat(this.work.synchronous()).isEqualTo("locked true");
			assertThat(this.work.future().join()).isEqualTo("locked true");
			assertThat(this.work.mono().block()).isEqualTo("locked true");
			assertThat(this.store.find("key")).isEmpty();
			assertThat(this.observations.getCurrentObservation()).isNull();
		}
		assertThat(this.log.events()).filteredOn((event) -> event.getLevel() == Level.WARN)
			.singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage()).contains("changes nothing"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "start", "event", "open", "close", "stop" })
	void throwingHandlerAffectsNoLockAndIsLoggedOnce(String when) {
		this.observations.observationConfig().observationHandler(new Failing(when));
		callThemAll();
	}

	@Test
	void throwingConventionAffectsNoLockAndIsLoggedOnce() {
		this.observations = TestObservationRegistry.create();
		this.convention = new DefaultLockCallObservationConvention() {

			@Override
			public KeyValues getLowCardinalityKeyValues(LockCallObservationContext context) {
				throw new IllegalStateException("of the convention");
			}

		};
		callThemAll();
	}

	@Test
	void customConventionReplacesDefault() {
		TestObservationRegistry test = TestObservationRegistry.create();
		this.observations = test;
		this.convention = new DefaultLockCallObservationConvention() {

			@Override
			public KeyValues getHighCardinalityKeyValues(LockCallObservationContext context) {
				return KeyValues.empty();
			}

		};
		this.work.synchronous();
		assertThat(test).hasSingleObservationThat()
			.hasNameEqualTo("dlock.call")
			.hasLowCardinalityKeyValue("name", "Work.synchronous")
			.doesNotHaveHighCardinalityKeyValueWithKey("dlock.key");
	}

	@Test
	void onlyTheFirstEndCounts() {
		List<String> seen = new ArrayList<>();
		this.observations.observationConfig().observationHandler(new ObservationHandler<>() {

			@Override
			public void onEvent(Observation.Event event, Observation.Context context) {
				seen.add(event.getName());
			}

			@Override
			public void onError(Observation.Context context) {
				seen.add("error");
			}

			@Override
			public void onStop(Observation.Context context) {
				seen.add("stop " + ((LockCallObservationContext) context).getOutcome());
			}

			@Override
			public boolean supportsContext(Observation.Context context) {
				return true;
			}

		});
		CallObservation call = new CallObservationFactory(
				() -> new LockObservationSettings(this.observations, null, "memory"))
			.start("name", List.of("key"), null);
		call.end(null);
		call.lost();
		call.cancelled();
		call.end(new IllegalStateException("late"));
		assertThat(seen).containsExactly("stop SUCCESS");
	}

	@Test
	void withoutHandlersNothingIsCreated() {
		CallObservationFactory none = new CallObservationFactory(() -> LockObservationSettings.NONE);
		assertThat(none.start("name", List.of("key"), null)).isSameAs(CallObservation.NONE);
		CallObservationFactory idle = new CallObservationFactory(
				() -> new LockObservationSettings(ObservationRegistry.create(), null, "memory"));
		assertThat(idle.start("name", List.of("key"), null)).isSameAs(CallObservation.NONE);
		assertThat(this.work.synchronous()).isEqualTo("locked true");
	}

	private record Failing(String when) implements ObservationHandler<Observation.Context> {

		private void fail(String now) {
			if (now.equals(this.when)) {
				throw new IllegalStateException("of the handler, at " + now);
			}
		}

		@Override
		public void onStart(Observation.Context context) {
			fail("start");
		}

		@Override
		public void onEvent(Observation.Event event, Observation.Context context) {
			fail("event");
		}

		@Override
		public void onScopeOpened(Observation.Context context) {
			fail("open");
		}

		@Override
		public void onScopeClosed(Observation.Context context) {
			fail("close");
		}

		@Override
		public void onStop(Observation.Context context) {
			fail("stop");
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

	}

}
