package io.dlock.aop.call;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.micrometer.context.ContextRegistry;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.ReactiveLockContext;
import io.dlock.test.ForcedLoss;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * R49: the lock of a reactive method is taken by each subscription and held until it
 * ends.
 */
@Timeout(60)
public class PublisherResultTests extends AbstractPublisherTests {

	@Test
	void r49SubscriptionHoldsTheLockUntilItCompletes() {
		Sinks.One<String> sink = Sinks.one();
		List<Boolean> freeAtValue = new ArrayList<>();
		AtomicReference<String> result = new AtomicReference<>();
		this.work.mono("key", sink::asMono).doOnNext((value) -> freeAtValue.add(isFree())).subscribe(result::set);
		Awaitility.await().until(() -> sink.currentSubscriberCount() == 1);
		assertThat(isFree()).isFalse();
		sink.tryEmitValue("done");
		Awaitility.await().untilAtomic(result, org.hamcrest.Matchers.is("done"));
		assertThat(freeAtValue).as("the lock is released before the value is there").containsExactly(true);
	}

	/**
	 * The threads of bodies are used again.
	 */
	@Test
	void methodSeesTheClassLoaderOfItsSubscriber() throws IOException {
		Supplier<Mono<ClassLoader>> body = () -> Mono.just(Thread.currentThread().getContextClassLoader());
		ClassLoader own = Thread.currentThread().getContextClassLoader();
		assertThat(this.work.waiting("key", body).block()).isSameAs(own);
		try (URLClassLoader loader = new URLClassLoader(new URL[0])) {
			LockHandle other = this.registry.acquireAsync(LockRequest.of("key")).join();
			Thread.currentThread().setContextClassLoader(loader);
			CompletableFuture<ClassLoader> seen = this.work.waiting("key", body).toFuture();
			Thread.currentThread().setContextClassLoader(own);
			other.release();
			assertThat(seen).succeedsWithin(Patience.EVENTUALLY).isSameAs(loader);
			assertThat(this.work.waiting("key", body).block()).isSameAs(own);
		}
		finally {
			Thread.currentThread().setContextClassLoader(own);
		}
	}

	@Test
	void methodAndItsOperatorsSeeTheContextOfTheirSubscriber() {
		ThreadLocal<String> trace = new ThreadLocal<>();
		ContextRegistry.getInstance().registerThreadLocalAccessor("dlock.test", trace);
		try {
			trace.set("of the subscriber");
			Mono<String> seen = this.work.mono("key",
					() -> Mono.just(trace.get()).zipWith(Mono.fromSupplier(trace::get), String::concat));
			assertThat(seen.block()).isEqualTo("of the subscriberof the subscriber");
		}
		finally {
			ContextRegistry.getInstance().removeThreadLocalAccessor("dlock.test");
		}
	}

	@Test
	void r49NothingHappensWithoutASubscription() {
		Mono<String> mono = this.work.mono("key", () -> Mono.just("done"));
		assertThat(mono).isNotNull();
		assertThat(this.work.getSeen()).isEmpty();
		assertThat(isFree()).isTrue();
		assertThat(this.registry.tryAcquire("key", Duration.ZERO)).isPresent().hasValueSatisfying(LockHandle::release);
	}

	@Test
	void r49EverySubscriptionTakesItsOwnLockAndRunsTheMethod() {
		Mono<Long> mono = this.work.waiting("key",
				() -> ReactiveLockContext.currentHandle().map(LockHandle::token).delayElement(Duration.ofMillis(20)));
		List<Long> tokens = Flux.merge(mono, mono).collectList().block();
		assertThat(tokens).hasSize(2).doesNotHaveDuplicates().isSorted();
		assertThat(this.work.getSeen()).hasSize(2);
		assertThat(mono.block()).isGreaterThan(tokens.get(1));
	}

	@Test
	void r49SubscribingThreadIsNotBlocked() {
		holdElsewhere("key");
		Mono<String> waiting = this.work.waiting("key",
				() -> Mono.fromSupplier(() -> Thread.currentThread().getName()));
		AtomicReference<String> thread = new AtomicReference<>();
		// threads of this scheduler refuse to block
		Schedulers.parallel().schedule(() -> waiting.subscribe(thread::set));
		Awaitility.await().until(() -> this.registry.isRunning());
		this.store.release("key", "elsewhere");
		Awaitility.await().until(() -> thread.get() != null);
		assertThat(thread.get()).startsWith("dlock-body-");
	}

	@Test
	void methodRunsWhereItMayBlockEvenIfTheLockIsGrantedAtOnce() {
		try (LockHandle handle = this.registry.acquire("key")) {
			assertThat(this.work.mono("key", () -> Mono.just(Thread.currentThread().getName())).block())
				.startsWith("dlock-body-");
		}
	}

	@Test
	void r49StreamPassesValuesOnWhileTheLockIsHeld() {
		List<Boolean> free = this.work.flux("key", () -> Flux.range(0, 3))
			.map((value) -> isFree())
			.collectList()
			.block();
		assertThat(free).containsExactly(false, false, false);
		assertThat(isFree()).isTrue();
	}

	@Test
	void r49DemandIsThatOfTheSubscriber() {
		List<Integer> requested = Collections.synchronizedList(new ArrayList<>());
		List<Integer> received = Collections.synchronizedList(new ArrayList<>());
		BaseSubscriber<Integer> subscriber = new BaseSubscriber<>() {

			@Override
			protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
				subscription.request(1);
				subscription.request(1);
			}

			@Override
			protected void hookOnNext(Integer value) {
				received.add(value);
			}

		};
		this.work.flux("key", () -> Flux.range(0, 10).doOnRequest((n) -> requested.add((int) n))).subscribe(subscriber);
		Awaitility.await().until(() -> received.size() == 2);
		assertThat(requested).containsExactly(2);
		subscriber.request(1);
		Awaitility.await().until(() -> received.size() == 3);
		subscriber.cancel();
		Awaitility.await().until(this::isFree);
	}

	@Test
	void r49ErrorReleases() {
		IllegalStateException failure = new IllegalStateException("of the work");
		assertThatIllegalStateException().isThrownBy(() -> this.work.mono("key", () -> Mono.error(failure)).block())
			.isSameAs(failure);
		assertThat(isFree()).isTrue();
		assertThatIllegalStateException()
			.isThrownBy(() -> this.work.flux("key", () -> Flux.just(1).concatWith(Flux.error(failure))).blockLast())
			.isSameAs(failure);
		assertThat(isFree()).isTrue();
	}

	@Test
	void r49ErrorInAssemblyReleases() {
		assertThatIllegalStateException().isThrownBy(() -> this.work.mono("key", () -> {
			throw new IllegalStateException("of the method");
		}).block()).withMessage("of the method");
		assertThat(isFree()).isTrue();
	}

	@Test
	void methodThatReturnsNullLeaksNothing() {
		assertThatIllegalStateException().isThrownBy(() -> this.work.mono("key", () -> null).block())
			.withMessageContaining("returned null");
		assertThat(isFree()).isTrue();
	}

	@Test
	void publisherThatThrowsWhenSubscribedToLeaksNothing() {
		Flux<String> broken = new Flux<>() {

			@Override
			public void subscribe(CoreSubscriber<? super String> subscriber) {
				throw new IllegalStateException("against the rules");
			}

		};
		assertThatIllegalStateException().isThrownBy(() -> this.work.flux("key", () -> broken).blockLast())
			.withMessage("against the rules");
		assertThat(isFree()).isTrue();
	}

	/**
	 * Reactor lets errors of linkage and of the virtual machine through.
	 */
	@Test
	void publisherThatThrowsAnErrorWhenSubscribedToLeaksNothing() {
		Flux<String> broken = Flux.defer(() -> {
			throw new NoClassDefFoundError("com/example/Missing");
		});
		assertThat(catchThrowable(() -> this.work.flux("key", () -> broken).blockLast(Duration.ofSeconds(10))))
			.isInstanceOf(NoClassDefFoundError.class);
		assertThat(isFree()).isTrue();
	}

	@Test
	void r49SubscriberThatThrowsAnErrorReleases() {
		List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
		this.work.flux("key", () -> Flux.interval(Duration.ofMillis(1))).subscribe((value) -> {
			throw new NoClassDefFoundError("com/example/Missing");
		}, failures::add);
		Awaitility.await().until(() -> !failures.isEmpty());
		assertThat(failures).singleElement().isInstanceOf(NoClassDefFoundError.class);
		assertThat(isFree()).isTrue();
	}

	@Test
	void invalidKeyFailsThePublisher() {
		Mono<String> mono = this.work.mono(" ", () -> Mono.just("never"));
		assertThatIllegalArgumentException().isThrownBy(mono::block);
		assertThat(this.work.getSeen()).isEmpty();
	}

	@Test
	void busyLockFailsSkipsOrIsReplaced() {
		holdElsewhere("key");
		assertThat(catchThrowable(this.work.mono("key", () -> Mono.just("never"))::block))
			.isInstanceOf(LockBusyException.class);
		assertThat(this.work.skipped("key").hasElement().block()).isFalse();
		this.work.completable("key").blockingAwait();
		assertThat(this.work.replaced("key").collectList().block()).containsExactly("unlocked");
		assertThat(this.work.getSeen()).isEmpty();
		this.store.release("key", "elsewhere");
		assertThat(this.work.skipped("key").block()).isEqualTo("ran");
		assertThat(this.work.replaced("key").collectList().block()).containsExactly("ran");
	}

	@Test
	void r49OtherReactiveTypesAreAdapted() {
		assertThat(this.work.single("key").blockingGet()).isEqualTo("one");
		this.work.completable("key").blockingAwait();
		assertThat(this.work.getSeen()).containsExactly("run");
		assertThat(Flux.from(this.work.publisher("key", () -> Flux.just(1, 2))).collectList().block())
			.containsExactly(1, 2);
		assertThat(isFree()).isTrue();
	}

	@Test
	void handleTravelsInTheContextAndIsHiddenDownstream() {
		String seen = this.work
			.flux("key",
					() -> Flux.range(0, 1)
						.publishOn(Schedulers.boundedElastic())
						.flatMap((value) -> ReactiveLockContext.currentHandle()
							.map((handle) -> handle.key() + handle.isValid())))
			.flatMap((inside) -> ReactiveLockContext.currentHandle()
				.map(LockHandle::key)
				.defaultIfEmpty("nothing")
				.map((outside) -> inside + " " + outside))
			.blockLast();
		assertThat(seen).isEqualTo("keytrue nothing");
	}

	@Test
	void nestedSubscriptionIsReentrant() {
		List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
		Mono<Long> token = ReactiveLockContext.currentHandle().map(LockHandle::token).doOnNext(tokens::add);
		this.work
			.mono("key",
					() -> token.publishOn(Schedulers.boundedElastic())
						.flatMap((outer) -> this.work.mono("other", () -> this.work.mono("key", () -> token)))
						.doOnNext((inner) -> assertThat(isFree()).as("the outer one holds it").isFalse())
						.then())
			.block();
		assertThat(tokens).hasSize(2);
		assertThat(tokens.get(0)).isEqualTo(tokens.get(1));
		assertThat(isFree()).isTrue();
	}

	@Test
	void subscriptionByAThreadThatHoldsTheLockIsReentrant() {
		try (LockHandle handle = this.registry.acquire("key")) {
			assertThat(this.work.mono("key", () -> ReactiveLockContext.currentHandle().map(LockHandle::token)).block())
				.isEqualTo(handle.token());
		}
	}

	@Test
	void handleCanBeBroughtIntoTheContext() {
		try (LockHandle handle = this.registry.acquireAsync(io.dlock.LockRequest.of("key")).join()) {
			Long token = this.work.mono("key", () -> ReactiveLockContext.currentHandle().map(LockHandle::token))
				.contextWrite(ReactiveLockContext.bind(handle))
				.block();
			assertThat(token).isEqualTo(handle.token());
		}
	}

	@Test
	void r9LossIsToldAfterTheWork() {
		assertThat(catchThrowable(this.work.losing("key")::block)).isInstanceOf(LockLostException.class);
		Throwable failure = catchThrowable(this.work.losingAndFailing("key")::block);
		assertThat(failure).hasMessage("of the work");
		assertThat(failure.getSuppressed()).hasAtLeastOneElementOfType(LockLostException.class);
		assertThat(this.work.losingCarelessly("key").block()).isEqualTo("done");
	}

	@Test
	void lossCancelsTheSubscriptionIfAskedFor() {
		assertThat(catchThrowable(this.work.interrupted("key")::block)).isInstanceOf(LockLostException.class);
		assertThat(catchThrowable(this.work.interruptedStream("key")::blockLast)).isInstanceOf(LockLostException.class);
		assertThat(this.work.getSeen()).containsExactly("cancelled", "cancelled");
	}

	@Test
	void lossIsToldEvenIfTheSourceThrowsWhenCancelled() {
		Mono<String> mono = this.work.interrupted("key", () -> Mono.create((sink) -> {
			sink.onCancel(() -> {
				throw new IllegalStateException("of the source");
			});
			ForcedLoss.of(this.registry, "key");
		}));
		assertThat(catchThrowable(() -> mono.block(Duration.ofSeconds(10)))).isInstanceOf(LockLostException.class);
	}

	/**
	 * A blocking subscriber may keep all threads of a scheduler, and wait for a method
	 * that has got its lock.
	 */
	@Test
	void noMethodWaitsForAThreadOfReactor() {
		int threads = Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE;
		CountDownLatch together = new CountDownLatch(threads);
		List<String> results = Flux.range(0, threads).flatMap((i) -> Mono.fromCallable(() -> {
			together.countDown();
			together.await(20, TimeUnit.SECONDS);
			return this.work.mono("key" + i, () -> Mono.just("done")).block(Duration.ofSeconds(10));
		}).subscribeOn(Schedulers.boundedElastic()), threads).collectList().block();
		assertThat(results).hasSize(threads).containsOnly("done");
	}

}
