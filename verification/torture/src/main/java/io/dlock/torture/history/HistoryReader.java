package io.dlock.torture.history;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Reads a history in the order in which it was written, whether or not its writer came to
 * an end. Torn records are left out.
 */
public final class HistoryReader {

	private static final int RECORDS_AT_ONCE = 4096;

	private HistoryReader() {
	}

	/**
	 * Read who wrote a history.
	 * @param file its file
	 * @return the header
	 */
	public static HistoryHeader header(Path file) {
		try (InputStream in = Files.newInputStream(file)) {
			return HistoryHeader
				.read(ByteBuffer.wrap(in.readNBytes(HistoryHeader.SIZE)).order(ByteOrder.nativeOrder()));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Read a history one record after the other.
	 * @param file its file
	 * @param consumer takes the records
	 */
	public static void forEach(Path file, Consumer<HistoryRecord> consumer) {
		byte[] bytes = new byte[RECORDS_AT_ONCE * HistoryRecord.SIZE];
		ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
		try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
			in.skipNBytes(HistoryHeader.SIZE);
			int length;
			do {
				length = in.readNBytes(bytes, 0, bytes.length);
				for (int at = 0; at + HistoryRecord.SIZE <= length; at += HistoryRecord.SIZE) {
					HistoryRecord entry = HistoryFile.read(buffer, at);
					if (entry.event() != Event.NONE) {
						consumer.accept(entry);
					}
				}
			}
			while (length == bytes.length);
		}
		catch (EOFException ex) {
			// its writer died at once
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Read a short history.
	 * @param file its file
	 * @return the records
	 */
	public static List<HistoryRecord> readAll(Path file) {
		List<HistoryRecord> records = new ArrayList<>();
		forEach(file, records::add);
		return records;
	}

}
