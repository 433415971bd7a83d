package io.dlock.aop.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Virtual threads that wait for a lock, or for the store, give up their carrier.
 */
@Timeout(120)
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualThreadIntegrationTests {

	private static final int THREADS = 32;

	private static final String THREAD_NAME = "virtual-";

	private final SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor(THREAD_NAME);

	@TempDir
	private Path directory;

	@BeforeEach
	void virtual() {
		this.threads.setVirtualThreads(true);
	}

	/**
	 * Waits where a virtual thread cannot give up its carrier, in any version of Java.
	 */
	private static final class Pinning {

		static {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
		}

		private static void run() {
		}

	}

	private List<String> pinned(Runnable body) throws Exception {
		Path file = this.directory.resolve(UUID.randomUUID() + ".jfr");
		try (Recording recording = new Recording()) {
			recording.enable("jdk.VirtualThreadPinned").withStackTrace().withThreshold(Duration.ZERO);
			recording.start();
			List<CompletableFuture<Void>> all = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				all.add(CompletableFuture.runAsync(body, this.threads));
			}
			CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(90, TimeUnit.SECONDS);
			recording.stop();
			recording.dump(file);
		}
		return events(file);
	}

	private static List<String> events(Path file) throws IOException {
		List<String> pinned = new ArrayList<>();
		for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
			if (!event.getThread().getJavaName().startsWith(THREAD_NAME)) {
				// Java's own, which poll the sockets of the others
				continue;
			}
			RecordedStackTrace trace = event.getStackTrace();
			pinned.add((trace != null) ? trace.getFrames().toString() : event.toString());
		}
		Files.delete(file);
		return pinned;
	}

	@Test
	void recordingShowsAPinnedThread() throws Exception {
		assertThat(pinned(Pinning::run)).isNotEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "memory", "redis", "jedis", "postgresql", "mariadb" })
	void virtualThreadsAreNotPinned(String server) throws Exception {
		try (LockStore store = CompletionIntegrationTests.store(server);
				LeaseLockRegistry registry = new LeaseLockRegistry(store,
						LockSettings.builder().commandTimeout(Duration.ofSeconds(2)).build())) {
			String key = "virtual/" + UUID.randomUUID();
			Runnable body = () -> {
				assertThat(Thread.currentThread().getName()).startsWith(THREAD_NAME);
				for (int n = 0; n < 5; n++) {
					cycle(registry, key);
					cycle(registry, key + n);
				}
			};
			// connections are made and classes loaded, which pins threads that wait for
			// it
			pinned(body);
			assertThat(pinned(body)).isEmpty();
		}
	}

	private static void cycle(LeaseLockRegistry registry, String key) {
		LockRequest request = LockRequest.builder(key).waitTime(LockRequest.FOREVER).build();
		try (LockHandle handle = registry.acquire(request)) {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
			handle.assertHeld();
		}
		LockHandle handle = registry.acquireAsync(request).join();
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
		handle.releaseAsync().join();
	}

}
