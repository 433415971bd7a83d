package io.dlock.torture.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;

/**
 * The clock of a process under the {@link ClockShim}: a file with the offset of the time
 * of day in nanoseconds, which the process maps into its memory.
 */
public final class ClockOffset {

	private final ClockShim shim;

	private final Path file;

	private final MappedByteBuffer offset;

	ClockOffset(ClockShim shim, Path file) {
		this.shim = shim;
		this.file = file.toAbsolutePath();
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE)) {
			this.offset = channel.map(FileChannel.MapMode.READ_WRITE, 0, Long.BYTES);
			this.offset.order(ByteOrder.nativeOrder());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Set the clock of the process.
	 * @param offset how far it is from that of the machine
	 */
	public void set(Duration offset) {
		this.offset.putLong(0, offset.toNanos());
	}

	/**
	 * The environment that gives a process this clock.
	 * @return the environment variables
	 */
	public Map<String, String> environment() {
		return Map.of("LD_PRELOAD", this.shim.library().toString(), "DLOCK_CLOCK_OFFSET", this.file.toString());
	}

}
