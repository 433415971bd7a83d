package io.dlock.aop.call;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

import io.micrometer.context.ContextRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.OnLost;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.aop.PostProcessors;
import io.dlock.observation.LockObservationSettings;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A registry that answers as a mock does: with nothing, or with handles that answer with
 * nothing.
 */
class MockedRegistryTests {

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private final TestObservationRegistry observations = TestObservationRegistry.create();

	@AfterEach
	void close() {
		this.context.close();
	}

	static class Service {

		private final AtomicBoolean staged = new AtomicBoolean();

		public AtomicBoolean staged() {
			return this.staged;
		}

		@DistributedLocked("#p0")
		public String run(String key) {
			return "ran";
		}

		@DistributedLocked("#p0")
		public CompletableFuture<String> stage(String key) {
			this.staged.set(true);
			return CompletableFuture.completedFuture("ran");
		}

		@DistributedLocked(key = "#p0", onLost = OnLost.INTERRUPT)
		public CompletableFuture<String> interrupted(String key, CompletableFuture<String> work) {
			return work;
		}

		@DistributedLocked(name = "two", keys = { "#p0", "#p1" })
		public CompletableFuture<String> stageOfTwo(String key, String other) {
			this.staged.set(true);
			return CompletableFuture.completedFuture("ran");
		}

		@DistributedLimit(key = "#p0", limit = "2")
		public CompletableFuture<String> limited(String key) {
			this.staged.set(true);
			return CompletableFuture.completedFuture("ran");
		}

		@DistributedLocked("#p0")
		public Mono<String> mono(String key) {
			return Mono.just("ran");
		}

	}

	private static <T> T mock(Class<T> type, Function<String, @Nullable Object> answers) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (mock, method, arguments) -> {
				Object answer = answers.apply(method.getName());
				if (answer == null && method.getReturnType() == long.class) {
					return 0L;
				}
				return (answer == null && method.getReturnType() == boolean.class) ? Boolean.FALSE : answer;
			}));
	}

	private Service service(LockRegistry registry) {
		DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(() -> registry, AdviceMode.PROXY);
		postProcessor.setObservations(() -> new LockObservationSettings(this.observations, null, "mock"));
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
		this.context.register(Service.class);
		this.context.refresh();
		return this.context.getBean(Service.class);
	}

	@Test
	void unstubbedMockFailsCall() {
		Service service = service(mock(LockRegistry.class, (method) -> null));
		assertThatIllegalStateException().isThrownBy(() -> service.run("42"))
			.withMessageContaining("key=42")
			.withMessageContaining("If it is a mock");
		assertThatException()
			.isThrownBy(() -> service.stage("42").get(Patience.EVENTUALLY.toSeconds(), TimeUnit.SECONDS))
			.withMessageContaining("If it is a mock");
		assertThatException().isThrownBy(() -> service.mono("42").block(Patience.EVENTUALLY))
			.withMessageContaining("If it is a mock");
	}

	/**
	 * As Mockito answers.
	 */
	@Test
	void mockThatCompletesItsFuturesWithNullFailsCall() {
		Service service = service(mock(LockRegistry.class,
				(method) -> method.endsWith("Async") ? CompletableFuture.completedFuture(null) : null));
		for (CompletableFuture<String> stage : List.of(service.stage("42"), service.stageOfTwo("42", "43"),
				service.limited("42"), service.mono("42").toFuture())) {
			assertThatException().isThrownBy(() -> stage.get(Patience.EVENTUALLY.toSeconds(), TimeUnit.SECONDS))
				.withMessageContaining("If it is a mock");
		}
		assertThat(service.staged()).isFalse();
	}

	@Test
	void stageThatCannotAskForItsLockEndsItsObservation() {
		Service service = service(mock(LockRegistry.class, (method) -> null));
		assertThat(service.stage("42")).failsWithin(Patience.EVENTUALLY).withThrowableOfType(ExecutionException.class);
		assertThat(this.observations).hasSingleObservationThat().hasBeenStopped().hasError();
	}

	@Test
	void stubbedMockWorks() throws Exception {
		LockHandle handle = mock(LockHandle.class, (method) -> method.equals("key") ? "42" : null);
		Service service = service(mock(LockRegistry.class, (method) -> switch (method) {
			case "acquire" -> handle;
			case "acquireAsync" -> CompletableFuture.completedFuture(handle);
			default -> null;
		}));
		assertThat(service.run("42")).isEqualTo("ran");
		assertThat(service.stage("42").get(Patience.EVENTUALLY.toSeconds(), TimeUnit.SECONDS)).isEqualTo("ran");
		assertThat(service.mono("42").block(Patience.EVENTUALLY)).isEqualTo("ran");
	}

	@Test
	void stageOfACallerThatGaveUpDoesNotBegin() throws Exception {
		CountDownLatch released = new CountDownLatch(1);
		LockHandle handle = mock(LockHandle.class, (method) -> {
			if (method.equals("releaseAsync")) {
				released.countDown();
			}
			return switch (method) {
				case "key" -> "42";
				case "isValid" -> true;
				default -> null;
			};
		});
		CompletableFuture<LockHandle> granting = new CompletableFuture<>();
		Service service = service(
				mock(LockRegistry.class, (method) -> method.equals("acquireAsync") ? granting : null));
		CompletableFuture<CompletableFuture<String>> stage = new CompletableFuture<>();
		// restored on the thread of the method, when the lock has been granted
		ContextRegistry.getInstance()
			.registerThreadLocalAccessor("stage", () -> stage, (value) -> value.join().cancel(false), () -> {
			});
		try {
			stage.complete(service.stage("42"));
			granting.complete(handle);
			assertThat(released.await(Patience.EVENTUALLY.toSeconds(), TimeUnit.SECONDS)).isTrue();
		}
		finally {
			ContextRegistry.getInstance().removeThreadLocalAccessor("stage");
		}
		assertThat(service.staged()).isFalse();
	}

	/**
	 * The store may take long to release the other locks of a set.
	 */
	@Test
	@SuppressWarnings("unchecked")
	void lossCancelsTheStageBeforeTheLocksAreReleased() {
		List<Consumer<LockHandle>> listeners = new CopyOnWriteArrayList<>();
		CompletableFuture<Void> released = new CompletableFuture<>();
		LockHandle handle = (LockHandle) Proxy.newProxyInstance(LockHandle.class.getClassLoader(),
				new Class<?>[] { LockHandle.class }, (mock, method, arguments) -> switch (method.getName()) {
					case "onLost" -> listeners.add((Consumer<LockHandle>) arguments[0]) ? null : mock;
					case "releaseAsync" -> released;
					case "token" -> 1L;
					default -> "42";
				});
		Service service = service(mock(LockRegistry.class,
				(method) -> method.equals("acquireAsync") ? CompletableFuture.completedFuture(handle) : null));
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = service.interrupted("42", work);
		Awaitility.await().until(() -> work.getNumberOfDependents() > 0);
		listeners.forEach((listener) -> listener.accept(handle));
		Awaitility.await().until(work::isCancelled);
		assertThat(result).isNotDone();
		released.complete(null);
		assertThat(result).succeedsWithin(Patience.EVENTUALLY);
	}

	/**
	 * The continuation may block, which the thread that releases must not.
	 */
	@Test
	void r49ContinuationOfTheCallerHasAThreadOfItsOwn() {
		CompletableFuture<Void> released = new CompletableFuture<>();
		LockHandle handle = mock(LockHandle.class, (method) -> method.equals("releaseAsync") ? released : null);
		Service service = service(mock(LockRegistry.class,
				(method) -> method.equals("acquireAsync") ? CompletableFuture.completedFuture(handle) : null));
		CompletableFuture<Thread> thread = service.stage("42").thenApply((result) -> Thread.currentThread());
		Awaitility.await().until(() -> released.getNumberOfDependents() > 0);
		released.complete(null);
		assertThat(thread).succeedsWithin(Patience.EVENTUALLY).isNotSameAs(Thread.currentThread());
	}

	/**
	 * The loss may be told to listeners later than the release fails.
	 */
	@Test
	void lossThatTheReleaseTellsIsObserved() {
		CompletableFuture<Void> released = CompletableFuture
			.failedFuture(new LockLostException("42", 1, "of the test"));
		LockHandle handle = mock(LockHandle.class, (method) -> method.equals("releaseAsync") ? released : null);
		Service service = service(mock(LockRegistry.class,
				(method) -> method.equals("acquireAsync") ? CompletableFuture.completedFuture(handle) : null));
		assertThat(service.stage("42")).failsWithin(Patience.EVENTUALLY).withThrowableOfType(ExecutionException.class);
		assertThat(this.observations).hasSingleObservationThat().hasLowCardinalityKeyValue("outcome", "lost");
	}

	@Test
	void subscriberThatCancelsAtOnceAsksForNoLock() {
		List<String> calls = new CopyOnWriteArrayList<>();
		Service service = service(mock(LockRegistry.class, (method) -> {
			calls.add(method);
			return null;
		}));
		service.mono("42").subscribe(new BaseSubscriber<>() {

			@Override
			protected void hookOnSubscribe(Subscription subscription) {
				cancel();
			}

		});
		assertThat(calls).doesNotContain("acquireAsync");
	}

	@Test
	void requestOfASubscriberThatCancelsMeanwhileIsCancelled() {
		CompletableFuture<LockHandle> waiting = new CompletableFuture<>();
		BaseSubscriber<String> subscriber = new BaseSubscriber<>() {
		};
		Service service = service(mock(LockRegistry.class, (method) -> {
			if (!method.equals("acquireAsync")) {
				return null;
			}
			subscriber.cancel();
			return waiting;
		}));
		service.mono("42").subscribe(subscriber);
		assertThat(waiting).isCancelled();
	}

}
