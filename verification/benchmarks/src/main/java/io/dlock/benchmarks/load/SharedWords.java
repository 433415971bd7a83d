package io.dlock.benchmarks.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A few words of memory that threads share, or JVMs of one machine.
 */
public final class SharedWords {

	private static final int COUNT = 8;

	private static final VarHandle WORD = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

	private final ByteBuffer buffer;

	private SharedWords(ByteBuffer buffer) {
		this.buffer = buffer;
	}

	/**
	 * Words of this JVM.
	 * @return zeros
	 */
	public static SharedWords local() {
		return new SharedWords(ByteBuffer.allocateDirect(COUNT * Long.BYTES));
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

	long add(int index, long value) {
		return (long) WORD.getAndAdd(this.buffer, index * Long.BYTES, value) + value;
	}

	boolean compareAndSet(int index, long expected, long value) {
		return WORD.compareAndSet(this.buffer, index * Long.BYTES, expected, value);
	}

}
