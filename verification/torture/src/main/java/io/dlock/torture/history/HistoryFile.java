package io.dlock.torture.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * How a history lies in its file: a header and records of the same size, in native byte
 * order, mapped into memory piece by piece. A written record is in the page cache of the
 * kernel, and so survives the death of its writer.
 */
final class HistoryFile {

	/** The file grows by this. */
	static final int CHUNK = 4 * 1024 * 1024;

	private static final int EVENT = 60;

	private static final int FLAG_RENEWED = 1;

	private HistoryFile() {
	}

	/**
	 * Map a piece of the file, on a thread that may be interrupted: that would close the
	 * channel, but not what is mapped.
	 */
	static MappedByteBuffer map(Path file, int chunk) {
		boolean interrupted = Thread.interrupted();
		try {
			while (true) {
				try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
						StandardOpenOption.WRITE)) {
					MappedByteBuffer mapped = channel.map(MapMode.READ_WRITE, (long) chunk * CHUNK, CHUNK);
					mapped.order(ByteOrder.nativeOrder());
					return mapped;
				}
				catch (ClosedByInterruptException ex) {
					interrupted = true;
					Thread.interrupted();
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Write a record. The event comes last: a record without one was torn.
	 */
	@SuppressWarnings("EnumOrdinal") // the order is the format
	static void write(ByteBuffer buffer, int at, HistoryRecord entry) {
		update(buffer, at, entry);
		buffer.putLong(at + 8, entry.attempt());
		buffer.putLong(at + 16, entry.token());
		buffer.putLong(at + 32, entry.value());
		buffer.putInt(at + 48, entry.key());
		buffer.putShort(at + 52, (short) entry.thread());
		buffer.putShort(at + 54, (short) entry.client());
		buffer.putInt(at + 56, entry.renewed() ? FLAG_RENEWED : 0);
		VarHandle.releaseFence();
		buffer.putInt(at + EVENT, entry.event().ordinal());
	}

	/**
	 * Write the times of a record, each of which is written at once.
	 */
	static void update(ByteBuffer buffer, int at, HistoryRecord entry) {
		buffer.putLong(at, entry.nanos());
		buffer.putLong(at + 24, entry.validUntil());
		buffer.putLong(at + 40, entry.other());
	}

	static HistoryRecord read(ByteBuffer buffer, int at) {
		return new HistoryRecord(buffer.getLong(at), buffer.getShort(at + 54), buffer.getShort(at + 52),
				buffer.getLong(at + 8), buffer.getInt(at + 48), buffer.getLong(at + 16), buffer.getLong(at + 24),
				buffer.getLong(at + 32), buffer.getLong(at + 40), buffer.getInt(at + 56) == FLAG_RENEWED,
				Event.of(buffer.getInt(at + EVENT)));
	}

}
