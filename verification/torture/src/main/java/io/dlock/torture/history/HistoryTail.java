package io.dlock.torture.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Follows a history while it is written: when did each thread that locks write last?
 */
public final class HistoryTail {

	private static final int RECORDS_AT_ONCE = 4096;

	private final Path file;

	private final Map<Integer, Long> latest = new HashMap<>();

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
					}
					this.position += HistoryRecord.SIZE;
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * When the thread that is silent for the longest time was seen writing.
	 * @return the time, now if nothing was written yet
	 */
	public long oldest() {
		return this.latest.values().stream().mapToLong(Long::longValue).min().orElseGet(System::nanoTime);
	}

}
