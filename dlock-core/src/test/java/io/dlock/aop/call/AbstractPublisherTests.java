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
import io.dlock.OnBusy;
import io.dlock.OnLost;
import io.dlock.ReactiveLockContext;
import io.dlock.aop.AbstractDistributedLockedTests;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reactive methods that take the lock {@code key}, which is free in the end.
 */
abstract class AbstractPublisherTests extends AbstractDistributedLockedTests {

	static class Work {

		private final List<String> seen = Collections.synchronizedList(new ArrayList<>());

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

		@DistributedLocked(key = "#key", lease = "300ms", renew = false)
		public Mono<String> losing(String key) {
			return ReactiveLockContext.currentHandle().map(AbstractPublisherTests::awaitLoss);
		}

		@DistributedLocked(key = "#key", lease = "300ms", renew = false)
		public Mono<String> losingAndFailing(String key) {
			return ReactiveLockContext.currentHandle().map((handle) -> {
				awaitLoss(handle);
				throw new IllegalStateException("of the work");
			});
		}

		@DistributedLocked(key = "#key", lease = "300ms", renew = false, onLost = OnLost.IGNORE)
		public Mono<String> losingCarelessly(String key) {
			return ReactiveLockContext.currentHandle().map(AbstractPublisherTests::awaitLoss);
		}

		@DistributedLocked(key = "#key", lease = "300ms", renew = false, onLost = OnLost.INTERRUPT)
		public Mono<String> interrupted(String key) {
			return Mono.<String>never().doOnCancel(() -> this.seen.add("cancelled"));
		}

		@DistributedLocked(key = "#key", lease = "300ms", renew = false, onLost = OnLost.INTERRUPT)
		public <T> Mono<T> interrupted(String key, Supplier<Mono<T>> body) {
			return body.get();
		}

		@DistributedLocked(key = "#key", lease = "300ms", renew = false, onLost = OnLost.INTERRUPT)
		public Flux<Integer> interruptedStream(String key) {
			return Flux.<Integer>generate((sink) -> sink.next(1)).doOnCancel(() -> this.seen.add("cancelled"));
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

	private static String awaitLoss(LockHandle handle) {
		Awaitility.await().until(() -> !handle.isValid());
		return "done";
	}

	final boolean isFree() {
		return this.store.find("key").isEmpty();
	}

}
