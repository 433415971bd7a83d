package io.dlock.observation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.micrometer.observation.Observation;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert.TestObservationRegistryAssertReturningObservationContextAssert;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.OnBusy;
import io.dlock.OnLost;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.Waiting;
import io.dlock.test.ForcedLoss;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The observation of a call: synchronous, of a stage, and of a publisher.
 */
@Timeout(60)
public class CallObservationTests extends AbstractDistributedLockedTests {

	private final TestObservationRegistry observations = TestObservationRegistry.create();

	private UnaryOperator<String> shown = UnaryOperator.identity();

	private final Observation parent = Observation.start("parent", this.observations);

	static class Work {

		private final LeaseLockRegistry registry;

		Work(LockRegistry registry) {
			this.registry = (LeaseLockRegistry) registry;
		}

		@DistributedLocked(name = "orders", key = "#key")
		public <T> T run(String key, Supplier<T> body) {
			return body.get();
		}

		@DistributedLocked(name = "orders", key = "#key", onBusy = OnBusy.SKIP)
		public @Nullable String skipped(String key) {
			return "ran";
		}

		@DistributedLocked(name = "orders", key = "#key")
		public String losing(String key, Supplier<String> body) {
			ForcedLoss.ofCurrent(this.registry);
			return body.get();
		}

		@DistributedLocked(name = "orders", key = "#key", onLost = OnLost.IGNORE)
		public String losingCarelessly(String key) {
			ForcedLoss.ofCurrent(this.registry);
			return "done";
		}

		@DistributedLocked(name = "orders", keys = "#keys")
		public List<Long> several(List<String> keys) {
			return keys.stream().map((key) -> LockContext.find("orders:" + key)).map(LockHandle::token).toList();
		}

		@DistributedLocked(name = "orders", key = "#key", mode = LockMode.SHARED)
		public <T> T shared(String key, Supplier<T> body) {
			return body.get();
		}

		@DistributedLocked(name = "orders", key = "#key", waitTime = "20s", fair = true)
		public CompletableFuture<Long> fair(String key) {
			return CompletableFuture.completedFuture(LockHandle.current().orElseThrow().token());
		}

		@DistributedLimit(name = "exports", key = "#key", limit = "2")
		public String limited(String key) {
			return "done";
		}

		@DistributedLocked("#key")
		public CompletableFuture<String> future(String key, Supplier<CompletableFuture<String>> body) {
			return body.get();
		}

		@DistributedLocked("#key")
		public Mono<String> mono(String key, Supplier<Mono<String>> body) {
			return body.get();
		}

		@DistributedLocked(key = "#key", waitTime = "20s")
		public Mono<String> waiting(String key) {
			return Mono.never();
		}

		@DistributedLocked("#key")
		public Flux<Integer> flux(String key, Supplier<Flux<Integer>> body) {
			return body.get();
		}

		@DistributedLocked(key = "#key", onLost = OnLost.IGNORE)
		public CompletableFuture<String> losingStage(String key) {
			ForcedLoss.ofCurrent(this.registry);
			return CompletableFuture.completedFuture("done");
		}

		@DistributedLocked(key = "#key", onLost = OnLost.IGNORE)
		public Mono<String> losingMono(String key) {
			ForcedLoss.ofCurrent(this.registry);
			return Mono.just("done");
		}

	}

	private final Work work = bean(Work.class);

	@Override
	protected void configure(DistributedLockedBeanPostProcessor postProcessor) {
		postProcessor.setObservations(
				() -> new LockObservationSettings(this.observations, null, "memory", (key) -> this.shown.apply(key)));
	}

	@AfterEach
	void nothingIsLeft() {
		assertThat(this.observations.getCurrentObservation()).isNull();
		Awaitility.await().untilAsserted(() -> assertThat(this.store.find("key")).isEmpty());
	}

	private TestObservationRegistryAssertReturningObservationContextAssert call() {
		return assertThat(this.observations).hasNumberOfObservationsWithNameEqualTo("dlock.call", 1)
			.hasObservationWithNameEqualTo("dlock.call")
			.that();
	}

	private TestObservationRegistryAssertReturningObservationContextAssert ended(String outcome) {
		return call().hasBeenStopped().hasLowCardinalityKeyValue("outcome", outcome);
	}

	private @Nullable Observation current() {
		return this.observations.getCurrentObservation();
	}

	@Test
	void callIsObservedWithItsNameOutcomeAndBackendAndOnTheSpanItsKeyAndToken() {
		long token = this.work.run("key", () -> {
			assertThat(current().getContextView().getName()).isEqualTo("dlock.call");
			return LockHandle.current().orElseThrow().token();
		});
		ended("success").hasContextualNameEqualTo("lock orders")
			.hasLowCardinalityKeyValue("name", "orders")
			.hasLowCardinalityKeyValue("backend", "memory")
			.hasHighCardinalityKeyValue("dlock.key", "orders:key")
			.hasHighCardinalityKeyValue("dlock.token", Long.toString(token))
			.doesNotHaveLowCardinalityKeyValueWithKey("dlock.key")
			.doesNotHaveError();
		call().hasEvent("acquired").doesNotHaveEvent("lost");
	}

	@Test
	void callWithSeveralKeysIsObservedOnceAndHasAllKeysAndTokens() {
		List<Long> tokens = this.work.several(List.of("key", "a"));
		ended("success").hasHighCardinalityKeyValue("dlock.key", "orders:key, orders:a")
			.hasHighCardinalityKeyValue("dlock.token", tokens.get(0) + ", " + tokens.get(1));
		this.observations.clear();
		this.shown = (key) -> "hidden" + key.length();
		this.work.several(List.of("key", "a"));
		ended("success").hasHighCardinalityKeyValue("dlock.key", "hidden10, hidden8");
	}

	@Test
	void callOfALimitedMethodIsObservedWithTheKeyOfItsPermit() {
		this.work.limited("key");
		ended("success").hasLowCardinalityKeyValue("name", "exports")
			.hasHighCardinalityKeyValue("dlock.key", "limit:exports:key");
	}

	@Test
	void readersAreObservedWithTheTokenThatTheyShareAndTheNameOfTheWriters() {
		try (LockHandle reader = this.registry
			.acquireAsync(LockRequest.builder("orders:key").mode(LockMode.SHARED).build())
			.join()) {
			this.work.shared("key", () -> "done");
			ended("success").hasContextualNameEqualTo("lock orders")
				.hasLowCardinalityKeyValue("name", "orders")
				.hasHighCardinalityKeyValue("dlock.key", "orders:key")
				.hasHighCardinalityKeyValue("dlock.token", Long.toString(reader.token()));
			call().hasEvent("acquired");
		}
		this.observations.clear();
		holdElsewhere("orders:key");
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.work.shared("key", () -> "never"));
		ended("busy").hasError().doesNotHaveHighCardinalityKeyValueWithKey("dlock.token");
	}

	@Test
	void fairCallsAreAcquiredWhenTheirTurnsHaveCome() {
		holdElsewhere("orders:key");
		CompletableFuture<Long> first = this.work.fair("key");
		CompletableFuture<Long> second = this.work.fair("key");
		Awaitility.await().until(() -> Waiting.processes(this.store, "orders:key") == 2);
		assertThat(this.observations).doesNotHaveAnyRemainingCurrentObservation()
			.hasObservationWithNameEqualTo("dlock.call")
			.that()
			.isNotStopped()
			.doesNotHaveEvent("acquired");
		this.store.release("orders:key", "elsewhere");
		assertThat(CompletableFuture.allOf(first, second)).succeedsWithin(Patience.EVENTUALLY);
		for (CompletableFuture<Long> token : List.of(first, second)) {
			assertThat(this.observations).hasNumberOfObservationsWithNameEqualTo("dlock.call", 2)
				.hasAnObservationWithAKeyValue("dlock.token", Long.toString(token.join()));
		}
	}

	@Test
	void r57SpanShowsTransformedKey() {
		this.shown = (key) -> "hidden";
		this.work.run("key", () -> "done");
		ended("success").hasHighCardinalityKeyValue("dlock.key", "hidden");
		assertThat(this.observations).hasHandledContextsThatSatisfy((contexts) -> assertThat(contexts)
			.filteredOn(LockCallObservationContext.class::isInstance)
			.allSatisfy((context) -> assertThat(((LockCallObservationContext) context).getKey()).isEqualTo("hidden")));
	}

	/**
	 * An event before the end would be counted under an outcome that is none.
	 */
	@Test
	void outcomeIsKnownWhenCallEnds() {
		this.work.run("key", () -> {
			assertThat(current().getContextView().getLowCardinalityKeyValues())
				.noneMatch((value) -> value.getKey().equals("outcome"));
			return "done";
		});
		ended("success");
	}

	@Test
	void methodWithoutANameHasThatOfTheMethod() {
		this.work.future("key", () -> CompletableFuture.completedFuture("done")).join();
		ended("success").hasLowCardinalityKeyValue("name", "Work.future");
	}

	@Test
	void currentObservationOfThreadIsParent() {
		try (Observation.Scope scope = this.parent.openScope()) {
			this.work.run("key", () -> "done");
			assertThat(current()).isSameAs(this.parent);
		}
		ended("success").hasParentObservationEqualTo(this.parent);
	}

	@Test
	void failureOfTheMethodIsAnError() {
		IllegalStateException failure = new IllegalStateException("of the method");
		assertThatIllegalStateException().isThrownBy(() -> this.work.run("key", () -> {
			throw failure;
		}));
		ended("error").hasError(failure);
	}

	@Test
	void busyLockHasItsOwnOutcome() {
		holdElsewhere("orders:key");
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.work.run("key", () -> "done"));
		ended("busy").hasError().doesNotHaveHighCardinalityKeyValueWithKey("dlock.token");
		call().doesNotHaveEvent("acquired");
		this.observations.clear();
		assertThat(this.work.skipped("key")).isNull();
		ended("busy").doesNotHaveError();
	}

	@Test
	void lossIsAnEventAndAnOutcome() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.work.losing("key", () -> "done"));
		ended("lost").hasError();
		this.observations.clear();
		assertThatIllegalStateException().isThrownBy(() -> this.work.losing("key", () -> {
			throw new IllegalStateException("of the method");
		}));
		ended("lost").hasError();
	}

	@Test
	void ignoredLossIsShown() {
		assertThat(this.work.losingCarelessly("key")).isEqualTo("done");
		ended("lost").doesNotHaveError();
		call().hasEvent("lost");
	}

	@Test
	void lossOfALockInsideIsNotThatOfTheOuterOne() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.work.run("outer", () -> this.work.losing("inner", () -> "done")));
		List<String> outcomes = new ArrayList<>();
		assertThat(this.observations).hasHandledContextsThatSatisfy((contexts) -> contexts.forEach((context) -> {
			if (context instanceof LockCallObservationContext call) {
				outcomes.add(call.getKey() + " " + call.getOutcome());
			}
		}));
		assertThat(outcomes).containsExactlyInAnyOrder("orders:outer ERROR", "orders:inner LOST");
	}

	@Test
	void stageIsObservedUntilItCompletes() {
		CompletableFuture<String> stage = new CompletableFuture<>();
		List<@Nullable String> seen = new ArrayList<>();
		CompletableFuture<String> result;
		try (Observation.Scope scope = this.parent.openScope()) {
			result = this.work.future("key", () -> {
				seen.add(current().getContextView().getName());
				return stage;
			});
			assertThat(current()).isSameAs(this.parent);
		}
		Awaitility.await().until(() -> !seen.isEmpty());
		call().isNotStopped();
		CompletableFuture<Void> continued = result.thenAccept((done) -> ended("success"));
		stage.complete("done");
		assertThat(result.join()).isEqualTo("done");
		assertThat(continued).succeedsWithin(Duration.ofSeconds(20));
		ended("success").hasParentObservationEqualTo(this.parent);
		assertThat(seen).containsExactly("dlock.call");
	}

	@Test
	void stageThatFailsOrIsCancelledEndsTheObservation() {
		IllegalStateException failure = new IllegalStateException("of the stage");
		assertThat(this.work.future("key", () -> CompletableFuture.failedFuture(failure)))
			.failsWithin(Duration.ofSeconds(20))
			.withThrowableOfType(ExecutionException.class);
		ended("error").hasError(failure);
		this.observations.clear();
		CompletableFuture<String> cancelled = this.work.future("key", CompletableFuture::new);
		cancelled.cancel(true);
		ended("cancelled");
	}

	@Test
	void stageWithoutALockIsBusy() {
		holdElsewhere("key");
		assertThat(this.work.future("key", CompletableFuture::new)).failsWithin(Duration.ofSeconds(20))
			.withThrowableOfType(ExecutionException.class);
		ended("busy").hasError();
		this.store.release("key", "elsewhere");
	}

	@Test
	void eachSubscriptionIsObservedAsChildOfSubscriber() {
		Mono<String> locked = this.work.mono("key", () -> Mono.deferContextual((context) -> Mono
			.just(((Observation) context.get("micrometer.observation")).getContextView().getName())));
		assertThat(this.observations).hasNumberOfObservationsWithNameEqualTo("dlock.call", 0);
		assertThat(locked.contextWrite((context) -> context.put("micrometer.observation", this.parent)).block())
			.isEqualTo("dlock.call");
		ended("success").hasParentObservationEqualTo(this.parent);
		assertThat(locked.block()).isEqualTo("dlock.call");
		assertThat(this.observations).hasNumberOfObservationsWithNameEqualTo("dlock.call", 2);
	}

	@Test
	void lossOfAStageAndOfASubscriptionIsSeen() {
		assertThat(this.work.losingStage("key").join()).isEqualTo("done");
		ended("lost").doesNotHaveError();
		this.observations.clear();
		assertThat(this.work.losingMono("key").block()).isEqualTo("done");
		ended("lost").doesNotHaveError();
	}

	@Test
	void subscriptionThatFailsOrIsCancelledEndsTheObservation() {
		IllegalStateException failure = new IllegalStateException("of the publisher");
		assertThatIllegalStateException().isThrownBy(() -> this.work.mono("key", () -> Mono.error(failure)).block());
		ended("error").hasError(failure);
		this.observations.clear();
		assertThat(this.work.flux("key", () -> Flux.range(1, 10)).take(2).collectList().block()).containsExactly(1, 2);
		ended("cancelled").doesNotHaveError();
		this.observations.clear();
		Awaitility.await().untilAsserted(() -> assertThat(this.store.find("key")).isEmpty());
		holdElsewhere("key");
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.work.mono("key", Mono::never).block());
		ended("busy");
		this.store.release("key", "elsewhere");
	}

	@Test
	void cancelledWaitEndsTheObservation() {
		LockHandle held = this.registry.acquireAsync(LockRequest.of("key")).join();
		Disposable waiting = this.work.waiting("key").subscribe();
		waiting.dispose();
		ended("cancelled");
		held.release();
	}

}
