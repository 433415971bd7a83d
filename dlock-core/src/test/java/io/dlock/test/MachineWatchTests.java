package io.dlock.test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link MachineWatch}.
 */
class MachineWatchTests {

	@Test
	void machineWithMoreWorkThanProcessorsIsLate() {
		assumeThat(Files.isReadable(Path.of("/proc/self/schedstat"))).isTrue();
		try (BusyThreads busy = new BusyThreads()) {
			assertThat(busy).isNotNull();
			AtomicInteger runs = new AtomicInteger();
			MachineWatch.repeatIfLate(() -> {
				// twice, so that the watch around them is late for certain
				for (int i = 0; i < 2; i++) {
					try (MachineWatch watch = MachineWatch.start()) {
						await().atMost(Duration.ofSeconds(60)).until(watch::isLate);
					}
				}
				assertThat(runs.incrementAndGet()).isEqualTo(2);
			});
		}
	}

	@Test
	void interruptedTestIsNotRepeated() {
		AtomicInteger runs = new AtomicInteger();
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> MachineWatch.repeatIfLate(() -> {
			runs.incrementAndGet();
			throw new InterruptedException();
		})).withCauseInstanceOf(InterruptedException.class);
		assertThat(Thread.interrupted()).isTrue();
		assertThat(runs).hasValue(1);
	}

}
