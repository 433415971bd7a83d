package io.dlock.aop.call;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockContext;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.OnBusy;
import io.dlock.OnLost;
import io.dlock.ReactiveLockContext;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Calls that lock several keys, all or none, in each way of waiting.
 */
@Timeout(120)
public class SeveralKeysCallTests extends AbstractDistributedLockedTests {

	static class Stock {

		private int runs;

		@DistributedLocked(keys = "#keys")
		public <T extends @Nullable Object> T run(List<String> keys, Supplier<T> body) {
			this.runs++;
			return body.get();
		}

		@DistributedLocked(keys = "#keys", waitTime = "20s")
		public <T> T runLater(List<String> keys, Supplier<T> body) {
			return body.get();
		}

		@DistributedLocked(keys = "#keys", onBusy = OnBusy.SKIP)
		public @Nullable String skipped(List<String> keys) {
			this.runs++;
			return "ran";
		}

		@DistributedLocked(keys = "#keys", fallback = "instead")
		public String replaced(List<String> keys) {
			this.runs++;
			return "ran";
		}

		private String instead(List<String> keys) {
			assertThat(LockHandle.current()).isEmpty();
			return "instead of " + keys;
		}

		@DistributedLocked(keys = "#keys", reentrant = false)
		public String notReentrant(List<String> keys) {
			return "ran";
		}

		@DistributedLocked(keys = "#keys", lease = "600ms")
		public <T> T losing(List<String> keys, Supplier<T> body) {
			return body.get();
		}

		@DistributedLocked(keys = "#keys", lease = "600ms", onLost = OnLost.IGNORE)
		public <T> T ignoring(List<String> keys, Supplier<T> body) {
			return body.get();
		}

		@DistributedLocked(keys = "#keys", lease = "600ms", onLost = OnLost.INTERRUPT)
		public String interrupted(List<String> keys, Runnable begin) throws InterruptedException {
			begin.run();
			new CountDownLatch(1).await();
			return "never";
		}

		@DistributedLocked(keys = "#keys", minHold = "30s")
		public void atLeast(List<String> keys) {
		}

		@DistributedLocked(keys = "#keys", lease = "300ms", maxHold = "600ms", waitTime = "20s")
		public void atMost(List<String> keys) {
			this.runs++;
		}

		@DistributedLocked(keys = "#keys", waitTime = "20s")
		public <T> CompletableFuture<T> stage(List<String> keys, Supplier<CompletableFuture<T>> body) {
			return body.get();
		}

		@Async
		@DistributedLocked(keys = "#keys", waitTime = "20s")
		public CompletableFuture<List<String>> async(List<String> keys) {
			return CompletableFuture.completedFuture(held());
		}

		@DistributedLocked(keys = "#keys", lease = "600ms", onLost = OnLost.INTERRUPT)
		public CompletableFuture<String> interruptedStage(List<String> keys, CompletableFuture<String> work) {
			return work;
		}

		@DistributedLocked(keys = "#keys", waitTime = "20s")
		public <T> Mono<T> mono(List<String> keys, Mono<T> body) {
			return body;
		}

		@DistributedLocked(keys = "#keys", onBusy = OnBusy.SKIP)
		public Flux<String> flux(List<String> keys) {
			return Flux.deferContextual((context) -> Flux.fromIterable(keys(ReactiveLockContext.all(context))));
		}

		@DistributedLocked(keys = "#keys", lease = "600ms", onLost = OnLost.INTERRUPT)
		public Mono<String> interruptedMono(List<String> keys) {
			return Mono.never();
		}

		public int getRuns() {
			return this.runs;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(proxyTargetClass = true)
	static class Config {

	}

	private static final List<String> BOTH = List.of("b", "a");

	private final Stock stock = stock();

	private Stock stock() {
		this.context.register(Config.class);
		return bean(Stock.class);
	}

	private static List<String> keys(Collection<LockHandle> handles) {
		return handles.stream().map(LockHandle::key).sorted().toList();
	}

	private static List<String> held() {
		return keys(LockContext.all());
	}

	private boolean isFree(String key) {
		return this.store.find(key).isEmpty();
	}

	private void awaitNothingLeft() {
		Awaitility.await().until(() -> isFree("a") && isFree("b"));
	}

	private void takeAway(String key) {
		this.store.inspection().forceRelease(key, this.store.find(key).orElseThrow().token());
	}

	private Void lose(String key) {
		LockHandle handle = Objects.requireNonNull(LockContext.find(key));
		takeAway(key);
		Awaitility.await().until(() -> !handle.isValid());
		return null;
	}

	// one thread

	@Test
	void allAreHeldWhileTheMethodRunsAndNoneAfterwards() {
		List<Long> tokens = new ArrayList<>();
		assertThat(this.stock.run(BOTH, () -> {
			LockContext.all().forEach((handle) -> tokens.add(handle.token()));
			assertThat(LockHandle.current()).map(LockHandle::key).hasValue("b");
			assertThat(LockContext.find("a")).isNotNull();
			return held();
		})).containsExactly("a", "b");
		assertThat(tokens).hasSize(2).doesNotHaveDuplicates();
		assertThat(LockContext.all()).isEmpty();
		assertThat(isFree("a") && isFree("b")).isTrue();
	}

	@Test
	void oneBusyLockIsABusyCallThatKeepsNoOther() {
		holdElsewhere("b");
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.stock.run(BOTH, () -> "ran"))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("b"));
		assertThat(this.stock.skipped(BOTH)).isNull();
		assertThat(this.stock.replaced(BOTH)).isEqualTo("instead of [b, a]");
		assertThat(this.stock.getRuns()).isZero();
		assertThat(LockContext.all()).isEmpty();
		Awaitility.await().until(() -> isFree("a"));
	}

	@Test
	void keyThatTheCallerHoldsIsNested() {
		String token = this.stock.run(List.of("b"), () -> this.stock.run(BOTH,
				() -> this.stock.run(BOTH, () -> String.valueOf(LockContext.find("b"))) + isFree("a")));
		assertThat(token).contains("key=b").endsWith("false");
		this.stock.run(List.of("a"), () -> {
			assertThat(this.stock.run(BOTH, SeveralKeysCallTests::held)).containsExactly("a", "a", "b");
			assertThat(isFree("b")).isTrue();
			assertThat(isFree("a")).isFalse();
			assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.stock.notReentrant(BOTH));
			return null;
		});
		awaitNothingLeft();
	}

	@Test
	void keysThatAreAllHeldAreInNoWrongOrder() {
		Logger logger = (Logger) LoggerFactory.getLogger("io.dlock.engine");
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		log.start();
		logger.addAppender(log);
		try {
			this.stock.run(BOTH, () -> this.stock.run(BOTH, () -> "ran"));
			assertThat(log.list).isEmpty();
			this.stock.run(List.of("b"), () -> this.stock.run(BOTH, () -> "ran"));
			assertThat(log.list).singleElement()
				.asString()
				.contains("Lock 'a' is requested by a thread that holds 'b'");
		}
		finally {
			logger.detachAppender(log);
		}
	}

	@Test
	void lossOfOneIsTheLossOfAll() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.stock.losing(BOTH, () -> lose("a")))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("a"));
		assertThat(this.stock.ignoring(BOTH, () -> {
			lose("b");
			return "done";
		})).isEqualTo("done");
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> this.stock.interrupted(BOTH, () -> takeAway("b")))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class));
		assertThat(Thread.interrupted()).isFalse();
		awaitNothingLeft();
	}

	@Test
	void failureOfTheMethodHasTheLossAsASuppressedOne() {
		IllegalStateException failure = new IllegalStateException("of the method");
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> this.stock.losing(BOTH, () -> {
			lose("a");
			throw failure;
		})).isSameAs(failure);
		assertThat(failure.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
	}

	@Test
	void minHoldIsThatOfEachLock() {
		this.stock.atLeast(BOTH);
		assertThat(isFree("a") || isFree("b")).isFalse();
		assertThat(LockContext.all()).isEmpty();
	}

	@Test
	void maxHoldCountsFromTheFirstLock() {
		LockSet other = this.registry
			.acquireAllAsync(LockRequest.builder("b").lease(Duration.ofSeconds(30)).build(), List.of("b"))
			.join();
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.Lost) {
				other.releaseAsync();
			}
		});
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.stock.atMost(BOTH))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("a"));
		assertThat(this.stock.getRuns()).isZero();
		awaitNothingLeft();
	}

	@Test
	void eventsAreThoseOfEachLockAndHaveTheNameOfTheMethod() {
		List<String> events = new CopyOnWriteArrayList<>();
		this.registry.addListener(
				(event) -> events.add(event.getClass().getSimpleName() + " " + event.key() + " " + event.name()));
		this.stock.run(BOTH, () -> "ran");
		Awaitility.await()
			.untilAsserted(() -> assertThat(events).containsExactlyInAnyOrder("Acquired a Stock.run",
					"Acquired b Stock.run", "Released a Stock.run", "Released b Stock.run"));
	}

	@Test
	void logShowsTheTokensInTheOrderOfTheKeys() {
		this.stock.run(BOTH, () -> {
			long a = Objects.requireNonNull(LockContext.find("a")).token();
			long b = Objects.requireNonNull(LockContext.find("b")).token();
			assertThat(MDC.get("dlock.token")).isEqualTo(b + ", " + a);
			return null;
		});
	}

	// stages

	@Test
	void stageHoldsAllUntilItsWorkIsDone() {
		CompletableFuture<String> work = new CompletableFuture<>();
		List<List<String>> held = Collections.synchronizedList(new ArrayList<>());
		CompletableFuture<String> result = this.stock.stage(BOTH, () -> {
			held.add(held());
			return work;
		});
		Awaitility.await().until(() -> !held.isEmpty());
		assertThat(held.get(0)).containsExactly("a", "b");
		assertThat(isFree("a") || isFree("b")).isFalse();
		work.complete("done");
		assertThat(result).succeedsWithin(Patience.EVENTUALLY).isEqualTo("done");
		assertThat(isFree("a") && isFree("b")).isTrue();
	}

	@Test
	void stageIsNestedInWhatItsCallerHolds() {
		this.stock.run(List.of("a"), () -> {
			CompletableFuture<List<String>> result = this.stock.stage(BOTH,
					() -> CompletableFuture.completedFuture(held()));
			assertThat(result).succeedsWithin(Patience.EVENTUALLY).isEqualTo(List.of("a", "b"));
			assertThat(isFree("a")).isFalse();
			Awaitility.await().until(() -> isFree("b"));
			return null;
		});
		awaitNothingLeft();
	}

	@Test
	void cancelledStageKeepsNoLock() {
		holdElsewhere("b");
		CompletableFuture<String> result = this.stock.stage(BOTH, () -> CompletableFuture.completedFuture("never"));
		Awaitility.await().until(() -> !isFree("a"));
		result.cancel(true);
		Awaitility.await().until(() -> isFree("a"));
	}

	@Test
	void asyncMethodHoldsAll() {
		assertThat(this.stock.async(BOTH)).succeedsWithin(Patience.EVENTUALLY).isEqualTo(List.of("a", "b"));
		awaitNothingLeft();
	}

	@Test
	void lossOfOneCancelsTheStage() {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = this.stock.interruptedStage(BOTH, work);
		Awaitility.await().until(() -> !isFree("b"));
		takeAway("b");
		assertThat(result).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockLostException.class);
		assertThat(work).isCancelled();
		awaitNothingLeft();
	}

	// publishers

	@Test
	void publisherHoldsAllAndItsContextHasThem() {
		assertThat(this.stock.flux(BOTH).collectList().block(Patience.EVENTUALLY)).containsExactly("a", "b");
		assertThat(isFree("a") && isFree("b")).isTrue();
		String token = this.stock
			.mono(BOTH,
					Mono.deferContextual(
							(context) -> Mono.just(ReactiveLockContext.find(context, "a").orElseThrow().token()
									+ ReactiveLockContext.current(context).orElseThrow().key())))
			.block(Patience.EVENTUALLY);
		assertThat(token).endsWith("b");
		holdElsewhere("b");
		assertThat(this.stock.flux(BOTH).collectList().block(Patience.EVENTUALLY)).isEmpty();
		Awaitility.await().until(() -> isFree("a"));
	}

	@Test
	void publisherIsNestedInWhatItsSubscriberHolds() {
		Mono<List<String>> inner = this.stock.flux(BOTH).collectList();
		assertThat(this.stock.mono(List.of("a"), inner.map((held) -> {
			assertThat(isFree("a")).isFalse();
			return held;
		})).block(Patience.EVENTUALLY)).containsExactly("a", "b");
		awaitNothingLeft();
	}

	@Test
	void cancelledSubscriptionKeepsNoLock() {
		holdElsewhere("b");
		Disposable waiting = this.stock.mono(BOTH, Mono.never()).subscribe();
		Awaitility.await().until(() -> !isFree("a"));
		waiting.dispose();
		Awaitility.await().until(() -> isFree("a"));
		this.store.clear();
		Disposable running = this.stock.mono(BOTH, Mono.never()).subscribe();
		Awaitility.await().until(() -> !isFree("b"));
		running.dispose();
		awaitNothingLeft();
	}

	@Test
	void lossOfOneEndsThePublisher() {
		CompletableFuture<String> result = this.stock.interruptedMono(BOTH).toFuture();
		Awaitility.await().until(() -> !isFree("b"));
		takeAway("b");
		assertThat(result).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockLostException.class);
		awaitNothingLeft();
	}

	@Test
	void publisherThatIsSubscribedToTwiceLocksTheSameKeysTwice() {
		List<String> keys = new ArrayList<>(BOTH);
		Mono<List<String>> result = this.stock.mono(keys,
				Mono.deferContextual((context) -> Mono.just(keys(ReactiveLockContext.all(context)))));
		keys.clear();
		assertThat(result.block(Patience.EVENTUALLY)).containsExactly("a", "b");
		assertThat(result.block(Patience.EVENTUALLY)).containsExactly("a", "b");
	}

	// order

	@Test
	void callsInOppositeOrdersDoNotWaitForEachOther() {
		List<CompletableFuture<Void>> callers = new ArrayList<>();
		int[] balance = new int[1];
		for (List<String> order : List.of(BOTH, List.of("a", "b"))) {
			callers.add(CompletableFuture.runAsync(() -> {
				for (int i = 0; i < 500; i++) {
					this.stock.runLater(order, () -> balance[0]++);
				}
			}));
		}
		callers.forEach((caller) -> assertThat(caller).succeedsWithin(Patience.EVENTUALLY));
		assertThat(balance[0]).isEqualTo(1000);
	}

}
