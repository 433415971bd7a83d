package io.dlock.torture.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes a history, from any number of threads. Nothing is lost when the process is
 * killed, but a record that was being written.
 */
public final class HistoryWriter implements AutoCloseable {

	private final Path file;

	private final AtomicLong end = new AtomicLong(HistoryHeader.SIZE);

	private final ConcurrentMap<Integer, MappedByteBuffer> chunks = new ConcurrentHashMap<>();

	private volatile boolean closed;

	/**
	 * Begin a history.
	 * @param file its file
	 * @param header who writes it
	 */
	public HistoryWriter(Path file, HistoryHeader header) {
		this.file = file;
		header.write(chunk(0));
	}

	/**
	 * Write a record.
	 * @param entry the record
	 * @return where it is
	 */
	public long append(HistoryRecord entry) {
		if (this.closed) {
			return this.end.get() - HistoryRecord.SIZE;
		}
		long position = this.end.getAndAdd(HistoryRecord.SIZE);
		HistoryFile.write(chunk(position), offset(position), entry);
		return position;
	}

	/**
	 * Change the times of a record.
	 * @param position where it is
	 * @param entry the record with its new times
	 */
	public void update(long position, HistoryRecord entry) {
		if (!this.closed) {
			HistoryFile.update(chunk(position), offset(position), entry);
		}
	}

	private MappedByteBuffer chunk(long position) {
		int number = (int) (position / HistoryFile.CHUNK);
		MappedByteBuffer mapped = this.chunks.get(number);
		return (mapped != null) ? mapped : this.chunks.computeIfAbsent(number, (n) -> HistoryFile.map(this.file, n));
	}

	private static int offset(long position) {
		return (int) (position % HistoryFile.CHUNK);
	}

	/**
	 * Cut off the unused part. No thread may be writing; later records are ignored.
	 */
	@Override
	public void close() {
		this.closed = true;
		try (FileChannel channel = FileChannel.open(this.file, StandardOpenOption.WRITE)) {
			channel.truncate(this.end.get());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
