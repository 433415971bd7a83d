package io.dlock.torture;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link MachineWatch}.
 */
class MachineWatchTests {

	@TempDir
	private Path directory;

	@Test
	void writesWhenTheMachineWasSlowAndEndsAllItsThreads() throws Exception {
		Path file = this.directory.resolve("machine.txt");
		long begin = System.nanoTime();
		MachineWatch.start(file).close();
		long end = System.nanoTime();
		for (String line : Files.readAllLines(file)) {
			List<String> words = List.of(line.split(" "));
			assertThat(words).hasSize(3);
			assertThat(words.subList(0, 2))
				.allSatisfy((time) -> assertThat(Long.parseLong(time)).isBetween(begin, end));
		}
		for (Thread thread : Thread.getAllStackTraces().keySet()) {
			if (thread.getName().startsWith("machine-")) {
				thread.join(10_000);
				assertThat(thread.isAlive()).as(thread.getName()).isFalse();
			}
		}
	}

}
