package io.dlock.torture.judge;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.dlock.torture.judge.Intervals.Interval;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RunReader}.
 */
class RunReaderTests {

	@TempDir
	private Path directory;

	@Test
	void readsWhenTheMachineWasSlowBesidesALineThatIsCutOff() throws IOException {
		Path file = this.directory.resolve("machine.txt");
		Files.writeString(file, "1000 1300\n1200 1400\n2000 2100\n3000 31");
		assertThat(RunReader.machine(file).all()).containsExactly(new Interval(1000, 1400), new Interval(2000, 2100));
		assertThat(RunReader.machine(this.directory.resolve("none")).all()).isEmpty();
	}

}
