package io.dlock.torture.fault;

import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Tests for {@link ClockShim}.
 */
class ClockShimTests {

	private static final long HOUR = Duration.ofHours(1).toMillis();

	@TempDir
	private Path directory;

	@Test
	void movesTheTimeOfDayOfRunningJvmAndNotItsMonotonicClock() throws Exception {
		Optional<ClockShim> shim = ClockShim.compile(this.directory);
		assumeTrue(shim.isPresent());
		ClockOffset clock = shim.get().clock(this.directory.resolve("clock"));
		ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Xmx32m", "-cp", System.getProperty("java.class.path"), Clocks.class.getName());
		builder.environment().putAll(clock.environment());
		Process process = builder.start();
		try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
			assertThat(ask(process, in)).isBetween(-HOUR / 60, HOUR / 60);
			clock.set(Duration.ofHours(1));
			assertThat(ask(process, in)).isBetween(HOUR * 59 / 60, HOUR * 61 / 60);
			clock.set(Duration.ofHours(-1));
			assertThat(ask(process, in)).isBetween(-HOUR * 61 / 60, -HOUR * 59 / 60);
		}
		finally {
			process.destroyForcibly();
		}
	}

	/**
	 * Return how far the time of day of the process is from ours, if its monotonic clock
	 * is not.
	 */
	private static long ask(Process process, BufferedReader in) throws Exception {
		process.getOutputStream().write('\n');
		process.getOutputStream().flush();
		String[] answer = in.readLine().split(" ");
		assertThat(System.nanoTime() - Long.parseLong(answer[1])).isBetween(0L, Duration.ofMinutes(1).toNanos());
		return Long.parseLong(answer[0]) - System.currentTimeMillis();
	}

	/**
	 * Prints both clocks for each byte.
	 */
	static final class Clocks {

		private Clocks() {
		}

		public static void main(String[] args) throws Exception {
			while (System.in.read() != -1) {
				System.out.println(System.currentTimeMillis() + " " + System.nanoTime());
			}
		}

	}

}
