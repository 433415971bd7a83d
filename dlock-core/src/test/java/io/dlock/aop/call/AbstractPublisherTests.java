package io.dlock.aop.call;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Single;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.OnBusy;
import io.dlock.OnLost;
import io.dlock.ReactiveLockContext;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.test.ForcedLoss;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reactive methods that take the lock {@code key}, which is free in the end.
 */
abstract class AbstractPublisherTests extends AbstractDistributedLockedTests {

	static class Work {

		private final LeaseLockRegistry registry;

		private final List<String> seen = Collections.synchronizedList(new ArrayList<>());

		Work(LockRegistry registry) {
			this.registry = (LeaseLockRegistry) registry;
		}

		@DistributedLocked("#key")
		public <T> Mono<T> mono(String key, Supplier<Mono<T>> body) {
			this.seen.add("run");
			assertThat(LockHandle.current().orElseThrow().key()).isEqualTo(key);
			return body.get();
		}

		@DistributedLocked(key = "#key", waitTime = "20s")
		public <T> Mono<T> waiting(String key, Supplier<Mono<T>> body) {
			this.seen.add("run");
			return body.get();
		}

		@DistributedLocked("#key")
		public <T> Flux<T> flux(String key, Supplier<Flux<T>> body) {
			this.seen.add("run");
			return body.get();
		}

		@DistributedLocked("#key")
		public <T> Publisher<T> publisher(String key, Supplier<Flux<T>> body) {
			return body.get();
		}

		@DistributedLocked("#key")
		public Single<String> single(String key) {
			return Single.just("one");
		}

		@DistributedLocked(key = "#key", onBusy = OnBusy.SKIP)
		public Completable completable(String key) {
			return Completable.fromAction(() -> this.seen.add("run"));
		}

		@DistributedLocked(key = "#key", onBusy = OnBusy.SKIP)
		public Mono<String> skipped(String key) {
			return Mono.just("ran");
		}

		@DistributedLocked(key = "#key", fallback = "instead")
		public Flux<String> replaced(String key) {
			return Flux.just("ran");
		}

		Flux<String> instead(String key) {
			return ReactiveLockContext.currentHandle().map(LockHandle::key).defaultIfEmpty("unlocked").flux();
		}

		@DistributedLocked("#key")
		public Mono<String> losing(String key) {
			return ReactiveLockContext.currentHandle().map(this::lose);
		}

		@DistributedLocked("#key")
		public Mono<String> losingAndFailing(String key) {
			return ReactiveLockContext.currentHandle().map((handle) -> {
				lose(handle);
				throw new IllegalStateException("of the work");
			});
		}

		@DistributedLocked(key = "#key", onLost = OnLost.IGNORE)
		public Mono<String> losingCarelessly(String key) {
			return ReactiveLockContext.currentHandle().map(this::lose);
		}

		@DistributedLocked(key = "#key", onLost = OnLost.INTERRUPT)
		public Mono<String> interrupted(String key) {
			return ReactiveLockContext.currentHandle()
				.doOnNext(this::lose)
				.then(Mono.<String>never())
				.doOnCancel(() -> this.seen.add("cancelled"));
		}

		@DistributedLocked(key = "#key", onLost = OnLost.INTERRUPT)
		public <T> Mono<T> interrupted(String key, Supplier<Mono<T>> body) {
			return body.get();
		}

		@DistributedLocked(key = "#key", onLost = OnLost.INTERRUPT)
		public Flux<Integer> interruptedStream(String key) {
			return ReactiveLockContext.currentHandle()
				.doOnNext(this::lose)
				.thenMany(Flux.<Integer>generate((sink) -> sink.next(1)))
				.doOnCancel(() -> this.seen.add("cancelled"));
		}

		private String lose(LockHandle handle) {
			ForcedLoss.of(this.registry, handle);
			return "done";
		}

		public List<String> getSeen() {
			return this.seen;
		}

	}

	final Work work = bean(Work.class);

	@AfterEach
	void nothingIsLeft() {
		Awaitility.await().until(this::isFree);
	}

	final boolean isFree() {
		return this.store.find("key").isEmpty();
	}

}
