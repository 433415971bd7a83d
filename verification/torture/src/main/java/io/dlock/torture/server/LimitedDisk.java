package io.dlock.torture.server;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A small file system in memory that can be filled up. Only root may mount one.
 */
public final class LimitedDisk implements AutoCloseable {

	private static final String SIZE = "256m";

	private static final int BLOCK = 64 * 1024;

	private static final int LITTLE = 512;

	private final Path directory;

	private final Path filler;

	private final Thread unmount;

	private LimitedDisk(Path directory) {
		this.directory = directory;
		this.filler = directory.resolve("filler");
		this.unmount = new Thread(this::unmount, "unmount");
		Runtime.getRuntime().addShutdownHook(this.unmount);
	}

	/**
	 * Mount one in a temporary directory.
	 * @return the disk, or nothing, and the reason on the error stream
	 */
	static Optional<LimitedDisk> mount() {
		try {
			Path directory = Files.createTempDirectory("dlock-disk-");
			if (run("mount", "-t", "tmpfs", "-o", "mode=755,size=" + SIZE, "dlock-disk", directory.toString())) {
				return Optional.of(new LimitedDisk(directory));
			}
			Files.delete(directory);
			return skipped("mount is not permitted");
		}
		catch (IOException ex) {
			return skipped(ex.toString());
		}
	}

	private static Optional<LimitedDisk> skipped(String reason) {
		System.err.println("No full disk (F23): " + reason);
		return Optional.empty();
	}

	Path directory() {
		return this.directory;
	}

	/**
	 * Leave no room for anything.
	 * @throws IOException if that is not possible
	 */
	public void fill() throws IOException {
		Files.createFile(this.filler);
		try (OutputStream out = Files.newOutputStream(this.filler)) {
			writeUntilFull(out, BLOCK);
			writeUntilFull(out, LITTLE);
		}
	}

	private static void writeUntilFull(OutputStream out, int length) {
		byte[] block = new byte[length];
		try {
			while (true) {
				out.write(block);
			}
		}
		catch (IOException ex) {
			// full, as it should be
		}
	}

	/**
	 * Make room again.
	 * @throws IOException if that is not possible
	 */
	public void free() throws IOException {
		Files.deleteIfExists(this.filler);
	}

	static void move(Path from, Path to) {
		if (!run("mv", from.toString(), to.toString())) {
			throw new IllegalStateException("Cannot move " + from + " to " + to);
		}
	}

	private static boolean run(String... command) {
		try {
			Process process = new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start();
			return process.waitFor(1, TimeUnit.MINUTES) && process.exitValue() == 0;
		}
		catch (IOException ex) {
			return false;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	/**
	 * Lazily: a process may still use it.
	 */
	private void unmount() {
		run("umount", "--lazy", this.directory.toString());
		try {
			Files.deleteIfExists(this.directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		Runtime.getRuntime().removeShutdownHook(this.unmount);
		unmount();
	}

}
