package io.dlock.torture.history;

import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import io.dlock.torture.history.HistoryRecord.Origin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link HistoryWriter} and {@link HistoryReader}.
 */
@Timeout(60)
class HistoryTests {

	private static final HistoryHeader HEADER = new HistoryHeader(3, 2, 4711, 1000, 100, 50, true, false);

	@TempDir
	private Path directory;

	@Test
	void writtenRecordsAreRead() {
		Path file = this.directory.resolve("history");
		HistoryRecord granted = record(1).withToken(5).withRenewed(true);
		HistoryRecord held = record(2).withValidUntil(20).withOther(3);
		try (HistoryWriter writer = new HistoryWriter(file, HEADER)) {
			writer.append(granted);
			long position = writer.append(held);
			writer.update(position, held.withValidUntil(30).withOther(13));
			writer.append(record(4).withValue(-7));
		}
		assertThat(HistoryReader.header(file)).isEqualTo(HEADER);
		assertThat(HistoryReader.readAll(file)).containsExactly(granted, held.withValidUntil(30).withOther(13),
				record(4).withValue(-7));
	}

	@Test
	void growsBeyondOnePieceFromInterruptedThreads() throws Exception {
		Path file = this.directory.resolve("history");
		int each = 50_000;
		try (HistoryWriter writer = new HistoryWriter(file, HEADER)) {
			List<Thread> threads = IntStream.range(0, 4).mapToObj((i) -> new Thread(() -> {
				for (int j = 0; j < each; j++) {
					Thread.currentThread().interrupt();
					writer.append(record(i * each + j));
				}
			})).toList();
			threads.forEach(Thread::start);
			for (Thread thread : threads) {
				thread.join();
			}
		}
		assertThat(Files.size(file)).isEqualTo((4L * each + 1) * HistoryRecord.SIZE);
		assertThat(HistoryReader.readAll(file)).extracting(HistoryRecord::nanos)
			.doesNotHaveDuplicates()
			.hasSize(4 * each);
	}

	@Test
	void tornRecordsAreLeftOut() throws Exception {
		Path file = this.directory.resolve("history");
		try (HistoryWriter writer = new HistoryWriter(file, HEADER)) {
			for (int i = 1; i <= 3; i++) {
				writer.append(record(i));
			}
		}
		try (RandomAccessFile torn = new RandomAccessFile(file.toFile(), "rw")) {
			// the second was reserved but its event never written, the third is cut off
			torn.seek(2L * HistoryRecord.SIZE + 60);
			torn.write(ByteBuffer.allocate(4).array());
			torn.setLength(4L * HistoryRecord.SIZE - 10);
		}
		assertThat(HistoryReader.readAll(file)).containsExactly(record(1));
	}

	@Test
	void survivesDeathOfItsWriter() throws Exception {
		Path file = this.directory.resolve("history");
		Process writer = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				System.getProperty("java.class.path"), EndlessWriter.class.getName(), file.toString())
			.redirectErrorStream(true)
			.start();
		try {
			await().atMost(Duration.ofSeconds(30))
				.until(() -> Files.exists(file) && Files.size(file) > 2L * HistoryFile.CHUNK);
		}
		finally {
			writer.destroyForcibly();
			writer.waitFor();
		}
		List<HistoryRecord> records = HistoryReader.readAll(file);
		assertThat(records).hasSizeGreaterThan(HistoryFile.CHUNK / HistoryRecord.SIZE);
		assertThat(records.get(records.size() - 1).attempt()).isEqualTo(records.size());
	}

	private static HistoryRecord record(long nanos) {
		return HistoryRecord.of(nanos, new Origin(3, 1, 9, 100_001), Event.GRANTED);
	}

	/**
	 * Writes until it is killed.
	 */
	static final class EndlessWriter {

		private EndlessWriter() {
		}

		public static void main(String[] args) {
			HistoryWriter writer = new HistoryWriter(Path.of(args[0]), HEADER);
			for (long i = 1; i < Integer.MAX_VALUE; i++) {
				writer.append(HistoryRecord.of(System.nanoTime(), new Origin(0, 0, i, 0), Event.INVOKE));
				if (i % 50_000 == 0) {
					LockSupport.parkNanos(10_000_000);
				}
			}
		}

	}

}
