package io.dlock.benchmarks.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A few words of memory that JVMs of one machine share.
 */
public final class SharedWords {

	private static final int COUNT = 8;

	private static final VarHandle WORD = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

	private final MappedByteBuffer buffer;

	private SharedWords(MappedByteBuffer buffer) {
		this.buffer = buffer;
	}

	/**
	 * Map a file, which is created with zeros if it is missing.
	 * @param file the file
	 * @return its words
	 */
	public static SharedWords in(Path file) {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE)) {
			return new SharedWords(channel.map(FileChannel.MapMode.READ_WRITE, 0, COUNT * (long) Long.BYTES));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public long get(int index) {
		return (long) WORD.getVolatile(this.buffer, index * Long.BYTES);
	}

	public void set(int index, long value) {
		WORD.setVolatile(this.buffer, index * Long.BYTES, value);
	}

	boolean compareAndSet(int index, long expected, long value) {
		return WORD.compareAndSet(this.buffer, index * Long.BYTES, expected, value);
	}

}
