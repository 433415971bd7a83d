package io.dlock.benchmarks.profile;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Numbers that several processes share, in a file that is mapped into their memory.
 */
final class SharedLongs {

	private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

	private final ByteBuffer buffer;

	/**
	 * Map a file.
	 * @param count the number of numbers, which are zero in a new file
	 */
	SharedLongs(Path file, int count) throws IOException {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE)) {
			this.buffer = channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) count * Long.BYTES)
				.order(ByteOrder.nativeOrder());
		}
	}

	long get(int index) {
		return (long) LONGS.getVolatile(this.buffer, index * Long.BYTES);
	}

	void set(int index, long value) {
		LONGS.setVolatile(this.buffer, index * Long.BYTES, value);
	}

	void add(int index, long difference) {
		LONGS.getAndAdd(this.buffer, index * Long.BYTES, difference);
	}

}
