package io.dlock.test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

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
		try (BusyThreads busy = new BusyThreads()) {
			assertThat(busy).isNotNull();
			await().atMost(Duration.ofSeconds(60))
				.until(() -> this.starvation.longestSince(this.self) > Duration.ofMillis(5).toNanos());
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
