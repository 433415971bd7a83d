package io.dlock.engine.concurrent;

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;

import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The threads of a registry serve all callers.
 */
class EngineThreadsTests {

	/**
	 * The work of a holder goes on without its lock until it is told.
	 */
	@Test
	void listenerOfALossDoesNotWaitForStagesThatBlock() {
		CompletableFuture<Void> done = new CompletableFuture<>();
		CompletableFuture<Void> told = new CompletableFuture<>();
		try (EngineThreads threads = new EngineThreads()) {
			for (int i = 0; i < EngineThreads.CALLBACKS; i++) {
				threads.executeCallback(done::join);
			}
			threads.notifyListener(() -> told.complete(null));
			assertThat(told).succeedsWithin(Patience.EVENTUALLY);
			done.complete(null);
		}
	}

	@Test
	void listenerIsToldByACallbackThreadIfNoOtherCanBeStarted() {
		AtomicBoolean noThreads = new AtomicBoolean();
		CompletableFuture<Void> done = new CompletableFuture<>();
		CompletableFuture<Void> told = new CompletableFuture<>();
		try (EngineThreads threads = new EngineThreads((task) -> {
			if (noThreads.get()) {
				throw new OutOfMemoryError("unable to create native thread");
			}
			return new Thread(task);
		})) {
			threads.executeCallback(done::join);
			noThreads.set(true);
			threads.notifyListener(() -> told.complete(null));
			done.complete(null);
			assertThat(told).succeedsWithin(Patience.EVENTUALLY);
		}
	}

	@Test
	void listenerThatWaitsForTheEventsDoesNotWaitForItself() {
		CompletableFuture<Void> waited = new CompletableFuture<>();
		try (EngineThreads threads = new EngineThreads()) {
			threads.publishEvent(() -> {
				threads.awaitEvents(Duration.ofHours(1));
				waited.complete(null);
			});
			assertThat(waited).succeedsWithin(Patience.EVENTUALLY);
		}
	}

	@Test
	void threadInheritsTheClassLoaderAndNoThreadLocalOfTheFirstCaller() throws Exception {
		InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
		Thread caller = Thread.currentThread();
		ClassLoader own = caller.getContextClassLoader();
		EngineThreads threads = new EngineThreads();
		try (URLClassLoader loader = new URLClassLoader(new URL[0])) {
			user.set("of the caller");
			caller.setContextClassLoader(loader);
			CompletableFuture<String> seen = new CompletableFuture<>();
			CompletableFuture<ClassLoader> seenLoader = new CompletableFuture<>();
			threads.executeCallback(() -> {
				seenLoader.complete(Thread.currentThread().getContextClassLoader());
				seen.complete(String.valueOf(user.get()));
			});
			assertThat(seen.get(10, TimeUnit.SECONDS)).isEqualTo("null");
			assertThat(seenLoader.get()).isSameAs(loader);
		}
		finally {
			user.remove();
			caller.setContextClassLoader(own);
			threads.close();
		}
	}

}
