package io.dlock.aop.call;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.SignalType;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

import io.dlock.LockHandle;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * R49: a subscription that ends early gives up its lock.
 */
@Timeout(60)
public class PublisherCancelTests extends AbstractPublisherTests {

	@Test
	void r49CancelReleases() {
		Sinks.One<String> sink = Sinks.one();
		Disposable subscription = this.work.mono("key", sink::asMono).subscribe();
		Awaitility.await().until(() -> sink.currentSubscriberCount() == 1);
		subscription.dispose();
		assertThat(sink.currentSubscriberCount()).isZero();
		Awaitility.await().until(this::isFree);
	}

	@Test
	void r49CancelReleasesEvenIfTheSourceThrowsWhenCancelled() {
		CountDownLatch subscribed = new CountDownLatch(1);
		Disposable subscription = this.work.flux("key", () -> Flux.create((sink) -> {
			sink.onCancel(() -> {
				throw new IllegalStateException("of the source");
			});
			subscribed.countDown();
		})).subscribe();
		Awaitility.await().until(() -> subscribed.getCount() == 0);
		assertThatIllegalStateException().isThrownBy(subscription::dispose).withMessage("of the source");
		Awaitility.await().until(this::isFree);
	}

	@Test
	void r49TimeoutReleases() {
		assertThat(catchThrowable(() -> this.work.mono("key", Mono::never).timeout(Duration.ofMillis(100)).block()))
			.hasCauseInstanceOf(TimeoutException.class);
		Awaitility.await().until(this::isFree);
	}

	@Test
	void r49EnoughValuesRelease() {
		assertThat(this.work.flux("key", () -> Flux.range(0, 1000)).next().block()).isZero();
		Awaitility.await().until(this::isFree);
	}

	@Test
	void r49CancelStopsASourceThatNeverPauses() throws Exception {
		CountDownLatch emitting = new CountDownLatch(1);
		Disposable subscription = this.work
			.flux("key",
					() -> Flux.<Integer>generate((sink) -> sink.next(1))
						.doOnCancel(() -> this.work.getSeen().add("cancelled")))
			.subscribe((value) -> emitting.countDown());
		emitting.await();
		subscription.dispose();
		Awaitility.await().untilAsserted(() -> assertThat(this.work.getSeen()).containsExactly("run", "cancelled"));
	}

	@Test
	void cancelledWaitLeavesTheQueueAndNeverRunsTheMethod() {
		holdElsewhere("key");
		Disposable subscription = this.work.waiting("key", () -> Mono.just("never")).subscribe();
		subscription.dispose();
		this.store.release("key", "elsewhere");
		assertThat(this.registry.tryAcquire("key", Duration.ofSeconds(10))).isPresent()
			.hasValueSatisfying(LockHandle::release);
		assertThat(this.work.getSeen()).isEmpty();
	}

	@Test
	void cancelWhileTheLockIsGrantedLeaksNothing() {
		for (int i = 0; i < 500; i++) {
			Disposable subscription = this.work.waiting("key", () -> Mono.just("done")).subscribe();
			for (int spin = 0; spin < i % 50 * 100; spin++) {
				Thread.onSpinWait();
			}
			subscription.dispose();
		}
		assertThat(this.registry.tryAcquire("key", Duration.ofSeconds(10))).isPresent()
			.hasValueSatisfying(LockHandle::release);
	}

	/**
	 * A source that goes on after it was cancelled.
	 */
	private static final class Source implements Publisher<String>, Subscription {

		private final CompletableFuture<Subscriber<? super String>> subscriber = new CompletableFuture<>();

		private volatile boolean cancelled;

		@Override
		public void subscribe(Subscriber<? super String> subscriber) {
			subscriber.onSubscribe(this);
			this.subscriber.complete(subscriber);
		}

		@Override
		public void request(long n) {
		}

		@Override
		public void cancel() {
			this.cancelled = true;
		}

		Subscriber<? super String> subscriber() {
			return this.subscriber.orTimeout(Patience.EVENTUALLY.toSeconds(), TimeUnit.SECONDS).join();
		}

	}

	private final List<String> discarded = new CopyOnWriteArrayList<>();

	@Test
	void valuesThatReachNoSubscriberAreDiscarded() {
		Source single = new Source();
		Disposable kept = this.work.mono("key", () -> Mono.fromDirect(single))
			.doOnDiscard(String.class, this.discarded::add)
			.subscribe();
		single.subscriber().onNext("kept");
		kept.dispose();
		assertThat(this.discarded).containsExactly("kept");
		Awaitility.await().until(this::isFree);
		Source failing = new Source();
		CompletableFuture<String> failed = this.work.mono("key", () -> Mono.fromDirect(failing))
			.doOnDiscard(String.class, this.discarded::add)
			.toFuture();
		failing.subscriber().onNext("of a failed call");
		failing.subscriber().onError(new IllegalStateException("of the source"));
		assertThat(failed).failsWithin(Patience.EVENTUALLY).withThrowableOfType(ExecutionException.class);
		assertThat(this.discarded).endsWith("of a failed call").hasSize(2);
		Source stream = new Source();
		Disposable cancelled = this.work.flux("key", () -> Flux.from(stream))
			.doOnDiscard(String.class, this.discarded::add)
			.subscribe();
		stream.subscriber();
		cancelled.dispose();
		stream.subscriber().onNext("late");
		assertThat(this.discarded).endsWith("late").hasSize(3);
	}

	@Test
	void subscriberThatCancelsDuringTheReleaseGetsNothing() {
		List<Object> got = new CopyOnWriteArrayList<>();
		ResultEmitter emitter = new ResultEmitter(new BaseSubscriber<>() {

			@Override
			protected void hookOnNext(Object value) {
				got.add(value);
			}

			@Override
			protected void hookFinally(SignalType type) {
				got.add(type);
			}

		});
		emitter.keep("kept");
		emitter.cancel();
		emitter.end(null, Operators.enableOnDiscard(Context.empty(), (value) -> this.discarded.add((String) value)));
		assertThat(got).isEmpty();
		assertThat(this.discarded).containsExactly("kept");
	}

	@Test
	void sourceThatBeginsAfterTheCancellationIsCancelled() {
		CompletableFuture<Subscriber<? super String>> late = new CompletableFuture<>();
		Disposable subscription = this.work.mono("key", () -> Mono.<String>fromDirect(late::complete)).subscribe();
		Awaitility.await().until(late::isDone);
		subscription.dispose();
		Source source = new Source();
		late.join().onSubscribe(source);
		assertThat(source.cancelled).isTrue();
	}

	@Test
	void errorAfterACancellationIsDropped() {
		List<Throwable> dropped = new CopyOnWriteArrayList<>();
		IllegalStateException late = new IllegalStateException("late");
		Hooks.onErrorDropped(dropped::add);
		try {
			Source source = new Source();
			Disposable subscription = this.work.mono("key", () -> Mono.fromDirect(source)).subscribe();
			source.subscriber();
			subscription.dispose();
			source.subscriber().onError(late);
			assertThat(dropped).containsExactly(late);
		}
		finally {
			Hooks.resetOnErrorDropped();
		}
	}

	@Test
	void cancelWhileTheMethodRunsReleasesAfterIt() throws Exception {
		CountDownLatch running = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		Disposable subscription = this.work.<String>waiting("key", () -> {
			running.countDown();
			try {
				goOn.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			return Mono.fromRunnable(() -> this.work.getSeen().add("subscribed"));
		}).subscribe();
		running.await();
		subscription.dispose();
		assertThat(this.registry.tryAcquire("key", Duration.ofMillis(300))).as("while the method runs").isEmpty();
		goOn.countDown();
		Awaitility.await().until(this::isFree);
		assertThat(this.work.getSeen()).containsExactly("run");
	}

}
