package io.dlock.torture.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import io.dlock.torture.Keys;

/**
 * Follows a history while it is written: when did each thread that locks write last, and
 * which of them hold a lock?
 */
public final class HistoryTail {

	private static final int RECORDS_AT_ONCE = 4096;

	private final Path file;

	private final Map<Integer, Long> latest = new HashMap<>();

	private final Map<Integer, Long> holders = new HashMap<>();

	private long position = HistoryHeader.SIZE;

	/**
	 * Begin to follow a history.
	 * @param file its file
	 */
	public HistoryTail(Path file) {
		this.file = file;
	}

	/**
	 * Read what was written since the last time.
	 */
	public void advance() {
		ByteBuffer buffer = ByteBuffer.allocate(RECORDS_AT_ONCE * HistoryRecord.SIZE).order(ByteOrder.nativeOrder());
		try (FileChannel channel = FileChannel.open(this.file)) {
			boolean more = true;
			while (more) {
				int length = channel.read(buffer.clear(), this.position);
				more = length == buffer.capacity();
				for (int at = 0; at + HistoryRecord.SIZE <= length; at += HistoryRecord.SIZE) {
					HistoryRecord entry = HistoryFile.read(buffer, at);
					if (entry.event() == Event.NONE) {
						return;
					}
					if (entry.thread() >= 0) {
						this.latest.put(entry.thread(), System.nanoTime());
						follow(entry);
					}
					this.position += HistoryRecord.SIZE;
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void follow(HistoryRecord entry) {
		switch (entry.event()) {
			case GRANTED -> {
				if (Keys.isShared(entry.key())) {
					this.holders.put(entry.thread(), entry.nanos());
				}
			}
			case LOST, FOUND_LOST, RELEASE_SENT -> this.holders.remove(entry.thread());
			default -> {
			}
		}
	}

	/**
	 * Whether a thread has held a lock of a shared key for a time.
	 * @param time the minimum time
	 * @return whether there is one, as far as was read
	 */
	public boolean holdsSharedLock(Duration time) {
		long latestBegin = System.nanoTime() - time.toNanos();
		return this.holders.values().stream().anyMatch((begin) -> begin <= latestBegin);
	}

	public Path file() {
		return this.file;
	}

	/**
	 * When the thread that is silent for the longest time was seen writing.
	 * @return the time, now if nothing was written yet
	 */
	public long oldest() {
		return this.latest.values().stream().mapToLong(Long::longValue).min().orElseGet(System::nanoTime);
	}

}
