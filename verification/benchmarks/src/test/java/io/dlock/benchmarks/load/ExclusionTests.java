package io.dlock.benchmarks.load;

import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.dlock.benchmarks.contender.ContenderLock;

import static org.assertj.core.api.Assertions.assertThat;

class ExclusionTests {

	@TempDir
	private Path directory;

	@Test
	void takingTurnsIsNoViolation() {
		Exclusion exclusion = new LocalExclusion();
		takeTurns(exclusion);
		assertThat(exclusion.violations()).isZero();
		assertThat(exclusion.cycles()).isEqualTo(2);
	}

	@Test
	void twoInsideAtOnceAreNoticed() {
		Exclusion exclusion = new LocalExclusion();
		exclusion.enter(1);
		exclusion.enter(2);
		assertThat(exclusion.violations()).isOne();
	}

	@Test
	void takingTurnsIsNoViolationBetweenJvms() {
		Path file = this.directory.resolve("words");
		Exclusion exclusion = new SharedExclusion(SharedWords.in(file));
		takeTurns(exclusion);
		assertThat(exclusion.violations()).isZero();
		assertThat(new SharedExclusion(SharedWords.in(file)).cycles()).isEqualTo(2);
	}

	@Test
	void twoInsideAtOnceAreNoticedBetweenJvms() {
		Path file = this.directory.resolve("words");
		Exclusion one = new SharedExclusion(SharedWords.in(file));
		Exclusion other = new SharedExclusion(SharedWords.in(file));
		one.enter(1);
		other.enter(2);
		one.exit(1);
		assertThat(one.violations() + other.violations()).isEqualTo(2);
	}

	/**
	 * On a busy machine the threads may take turns for a while.
	 */
	@Test
	void lockThatDoesNotExcludeIsFoundOut() throws InterruptedException {
		long found = 0;
		for (int i = 0; found == 0 && i < 200; i++) {
			Exclusion exclusion = new LocalExclusion();
			Load load = LoadGenerator.run(4, 1, (thread) -> new NoLock(), (thread) -> exclusion,
					Window.after(System.nanoTime(), Duration.ZERO, Duration.ofMillis(300)));
			found = exclusion.violations() + load.cycles() - exclusion.cycles();
		}
		assertThat(found).isPositive();
	}

	private static void takeTurns(Exclusion exclusion) {
		exclusion.enter(1);
		exclusion.exit(1);
		exclusion.enter(2);
		exclusion.exit(2);
	}

	private static final class NoLock implements ContenderLock {

		@Override
		public void acquire() {
		}

		@Override
		public void release() {
		}

	}

}
