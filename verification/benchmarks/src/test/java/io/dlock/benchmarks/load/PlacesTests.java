package io.dlock.benchmarks.load;

import org.junit.jupiter.api.Test;

import io.dlock.benchmarks.contender.LockKind;

import static org.assertj.core.api.Assertions.assertThat;

class PlacesTests {

	private final SharedWords words = SharedWords.local();

	private final Exclusion reading = new Places(this.words, LockKind.READ);

	private final Exclusion writing = new Places(this.words, LockKind.WRITE);

	@Test
	void readersMayBeInsideTogetherAndWritersInTurn() {
		this.reading.enter(1);
		this.reading.enter(2);
		this.reading.exit(1);
		this.reading.exit(2);
		this.writing.enter(3);
		this.writing.exit(3);
		assertThat(this.reading.violations() + this.writing.violations()).isZero();
		assertThat(this.reading.cycles()).isEqualTo(3);
	}

	@Test
	void writerBesideReaderIsNoticed() {
		this.reading.enter(1);
		this.writing.enter(2);
		assertThat(this.writing.violations()).isOne();
	}

	@Test
	void readerBesideWriterIsNoticed() {
		this.writing.enter(1);
		this.reading.enter(2);
		assertThat(this.reading.violations()).isOne();
	}

	@Test
	void fifthPermitOfFourIsNoticed() {
		Exclusion permits = new Places(this.words, LockKind.PERMIT);
		for (int id = 1; id <= 4; id++) {
			permits.enter(id);
		}
		assertThat(permits.violations()).isZero();
		permits.enter(5);
		assertThat(permits.violations()).isOne();
	}

}
