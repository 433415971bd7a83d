package io.dlock.aop.call;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.MockedStatic;

import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.notNull;
import static org.mockito.Mockito.mockStatic;

@Timeout(60)
class LockedMethodExecutorTests {

	private static final String KEY = "dlock.test";

	@Test
	void bodySeesTheContextOfItsCaller() throws Exception {
		ThreadLocal<String> trace = new ThreadLocal<>();
		ContextRegistry.getInstance().registerThreadLocalAccessor(KEY, trace);
		Thread caller = Thread.currentThread();
		ClassLoader own = caller.getContextClassLoader();
		try (URLClassLoader loader = new URLClassLoader(new URL[0])) {
			trace.set("of the caller");
			caller.setContextClassLoader(loader);
			CompletableFuture<String> seen = new CompletableFuture<>();
			CompletableFuture<ClassLoader> seenLoader = new CompletableFuture<>();
			Runnable task = LockedMethodExecutor.inContext(() -> {
				seen.complete(trace.get());
				seenLoader.complete(Thread.currentThread().getContextClassLoader());
			});
			trace.remove();
			caller.setContextClassLoader(own);
			LockedMethodExecutor.execute(task);
			assertThat(seen.get(10, TimeUnit.SECONDS)).isEqualTo("of the caller");
			assertThat(seenLoader.get(10, TimeUnit.SECONDS)).isSameAs(loader);
		}
		finally {
			caller.setContextClassLoader(own);
			ContextRegistry.getInstance().removeThreadLocalAccessor(KEY);
		}
	}

	/**
	 * The caller that needs a thread first is not the only one that it serves. Other
	 * tests may have left threads: so many are new.
	 */
	@Test
	void bodyInheritsNoThreadLocalOfItsCaller() throws Exception {
		InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
		user.set("of the caller");
		int tasks = 64;
		CountDownLatch begun = new CountDownLatch(tasks);
		List<String> seen = new CopyOnWriteArrayList<>();
		try {
			for (int i = 0; i < tasks; i++) {
				LockedMethodExecutor.execute(() -> {
					seen.add(String.valueOf(user.get()));
					begun.countDown();
					awaitQuietly(begun);
				});
			}
			assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
		}
		finally {
			user.remove();
		}
		assertThat(seen).hasSize(tasks).containsOnly("null");
	}

	/**
	 * Its lock would leak otherwise.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "capture", "restore", "clear" })
	void bodyRunsOnceIfCallerContextCannotBeCaptured(String when) throws Exception {
		ContextRegistry.getInstance().registerThreadLocalAccessor(new Failing(when));
		try {
			AtomicInteger runs = new AtomicInteger();
			CountDownLatch done = new CountDownLatch(1);
			Runnable task = LockedMethodExecutor.inContext(runs::incrementAndGet);
			LockedMethodExecutor.execute(() -> {
				task.run();
				done.countDown();
			});
			assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
			assertThat(runs).hasValue(1);
		}
		finally {
			ContextRegistry.getInstance().removeThreadLocalAccessor(KEY);
		}
	}

	private static void awaitQuietly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private record Failing(String when) implements ThreadLocalAccessor<String> {

		private void fail(String now) {
			if (now.equals(this.when)) {
				throw new IllegalStateException("of the accessor, at " + now);
			}
		}

		@Override
		public Object key() {
			return KEY;
		}

		@Override
		public @Nullable String getValue() {
			fail("capture");
			return "value";
		}

		@Override
		public void setValue(String value) {
			fail("restore");
		}

		@Override
		public void setValue() {
			fail("clear");
		}

		@Override
		public void restore(String previousValue) {
			fail("clear");
		}

		@Override
		public void restore() {
			fail("clear");
		}

	}

	@Test
	void threadHasItsOwnClassLoaderAgainAfterTheBody() {
		Thread thread = Thread.currentThread();
		ClassLoader own = thread.getContextClassLoader();
		ClassLoader ofTheCaller = new ClassLoader(own) {
		};
		List<ClassLoader> seen = new ArrayList<>();
		thread.setContextClassLoader(ofTheCaller);
		Runnable body = LockedMethodExecutor.inContext(() -> seen.add(thread.getContextClassLoader()));
		thread.setContextClassLoader(own);
		body.run();
		assertThat(seen).containsExactly(ofTheCaller);
		assertThat(thread.getContextClassLoader()).isSameAs(own);
	}

	@Test
	void bodyKeepsNoJvmRunning() {
		CompletableFuture<Boolean> daemon = new CompletableFuture<>();
		LockedMethodExecutor.execute(() -> daemon.complete(Thread.currentThread().isDaemon()));
		assertThat(daemon).succeedsWithin(Patience.EVENTUALLY).isEqualTo(true);
	}

	@Test
	void noBodyWaitsForTheThreadOfAnother() throws Exception {
		int bodies = 100;
		CountDownLatch together = new CountDownLatch(bodies);
		CountDownLatch done = new CountDownLatch(bodies);
		for (int i = 0; i < bodies; i++) {
			LockedMethodExecutor.execute(() -> {
				together.countDown();
				try {
					together.await();
					done.countDown();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			});
		}
		assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
	}

	/**
	 * It may be the one that releases a lock.
	 */
	@Test
	void taskForWhichThereIsNoThreadRunsOnThatOfItsCaller() {
		List<Thread> seen = new ArrayList<>();
		try (MockedStatic<LockedMethodExecutor> threads = mockStatic(LockedMethodExecutor.class, (call) -> {
			if (call.getMethod().getName().equals("execute")) {
				throw new OutOfMemoryError("unable to create native thread");
			}
			return call.callRealMethod();
		})) {
			LockedMethodExecutor.executeOrRun(() -> seen.add(Thread.currentThread()));
			threads.verify(() -> LockedMethodExecutor.execute(notNull()));
		}
		assertThat(seen).containsExactly(Thread.currentThread());
	}

}
