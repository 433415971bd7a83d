package io.dlock.aop.call;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.OnBusy;
import io.dlock.OnLost;
import io.dlock.ReactiveLockContext;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.test.ForcedLoss;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Methods that lock several keys.
 */
abstract class AbstractSeveralKeysCallTests extends AbstractDistributedLockedTests {

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

		@DistributedLocked(keys = "#keys")
		public <T> T losing(List<String> keys, Supplier<T> body) {
			return body.get();
		}

		@DistributedLocked(keys = "#keys", onLost = OnLost.IGNORE)
		public <T> T ignoring(List<String> keys, Supplier<T> body) {
			return body.get();
		}

		@DistributedLocked(keys = "#keys", onLost = OnLost.INTERRUPT)
		public String interrupted(List<String> keys, Runnable begin) throws InterruptedException {
			begin.run();
			new CountDownLatch(1).await();
			return "never";
		}

		@DistributedLocked(keys = "#keys", minHold = "30s")
		public void atLeast(List<String> keys) {
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

		@DistributedLocked(keys = "#keys", onLost = OnLost.INTERRUPT)
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

		@DistributedLocked(keys = "#keys", onLost = OnLost.INTERRUPT)
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

	static final List<String> BOTH = List.of("b", "a");

	/** A request whose wait time is over keeps no lock either. */
	static final Duration LESS_THAN_THE_WAIT_TIME = Duration.ofSeconds(10);

	final Stock stock = stock();

	private Stock stock() {
		this.context.register(Config.class);
		return bean(Stock.class);
	}

	static List<String> keys(Collection<LockHandle> handles) {
		return handles.stream().map(LockHandle::key).sorted().toList();
	}

	static List<String> held() {
		return keys(LockContext.all());
	}

	final boolean isFree(String key) {
		return this.store.find(key).isEmpty();
	}

	final void awaitNothingLeft() {
		Awaitility.await().until(() -> isFree("a") && isFree("b"));
	}

	final Void lose(String key) {
		ForcedLoss.of(this.registry, Objects.requireNonNull(LockContext.find(key)));
		return null;
	}

}
