package io.dlock.torture.fault;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A library that moves the time of day of one process while it runs, and nothing else:
 * the monotonic clock stays, and so does the clock of the machine.
 *
 * @param library the compiled library
 */
public record ClockShim(Path library) {

	/**
	 * Compile the library with the C compiler of the machine.
	 * @param directory where to put it
	 * @return the library, or nothing, and the reason on the error stream
	 * @throws InterruptedException if the calling thread is interrupted
	 */
	public static Optional<ClockShim> compile(Path directory) throws InterruptedException {
		Path source = directory.resolve("clock-shim.c").toAbsolutePath();
		Path library = directory.resolve("clock-shim.so").toAbsolutePath();
		try (InputStream in = ClockShim.class.getResourceAsStream("clock-shim.c")) {
			if (in == null || !System.getProperty("os.name").equals("Linux")) {
				return skipped("not Linux");
			}
			Files.copy(in, source, StandardCopyOption.REPLACE_EXISTING);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		try {
			Process compiler = new ProcessBuilder("gcc", "-shared", "-fPIC", "-O2", "-o", library.toString(),
					source.toString())
				.redirectErrorStream(true)
				.redirectOutput(directory.resolve("clock-shim.log").toFile())
				.start();
			if (!compiler.waitFor(1, TimeUnit.MINUTES) || compiler.exitValue() != 0) {
				compiler.destroyForcibly();
				return skipped("gcc failed, see clock-shim.log");
			}
			return Optional.of(new ClockShim(library));
		}
		catch (IOException ex) {
			return skipped("no gcc");
		}
	}

	private static Optional<ClockShim> skipped(String reason) {
		System.err.println("No clock steps (F18, F20): " + reason);
		return Optional.empty();
	}

	/**
	 * Make a clock for a process.
	 * @param file the file of its offset
	 * @return the clock
	 */
	public ClockOffset clock(Path file) {
		return new ClockOffset(this, file);
	}

}
