package io.dlock.torture;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link Starvation}.
 */
class StarvationTests {

	private final List<Long> self = List.of(ProcessHandle.current().pid());

	private final Starvation starvation = new Starvation();

	@Test
	void threadsThatAreMoreThanProcessorsWait() {
		assumeThat(Files.isReadable(Path.of("/proc/self/schedstat"))).isTrue();
		AtomicBoolean done = new AtomicBoolean();
		for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++) {
			Thread thread = new Thread(() -> {
				while (!done.get()) {
					Thread.onSpinWait();
				}
			}, "spinner-" + i);
			thread.start();
		}
		try {
			await().atMost(Duration.ofSeconds(60))
				.until(() -> this.starvation.longestSince(this.self) > Duration.ofMillis(5).toNanos());
		}
		finally {
			done.set(true);
		}
	}

	@Test
	void waitsBeforeTheFirstLookDoNotCount() {
		assertThat(this.starvation.longestSince(this.self)).isZero();
	}

	@Test
	void processThatHasEndedDoesNotWait() {
		assertThat(this.starvation.longestSince(List.of(Long.MAX_VALUE))).isZero();
	}

}
