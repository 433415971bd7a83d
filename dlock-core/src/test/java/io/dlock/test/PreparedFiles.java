package io.dlock.test;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Files that take seconds to make and are the same for every JVM that starts servers:
 * unpacked binaries and empty databases. They are made once on a machine and stay in the
 * directory of temporary files for the other JVMs of the build and for the next build.
 */
final class PreparedFiles {

	private static final Path ROOT = Path.of(System.getProperty("java.io.tmpdir"),
			"dlock-test-servers-" + System.getProperty("user.name"));

	private PreparedFiles() {
	}

	/**
	 * Return a directory of prepared files. The first JVM that asks for it makes them
	 * while the others wait.
	 * @param name the name of the directory, with the version of its content
	 * @param preparation fills an empty directory
	 * @return the directory, which is only to be read
	 */
	static synchronized Path get(String name, Preparation preparation) {
		return ServerProcess.unlessExiting(() -> {
			Path directory = root().resolve(name);
			try (FileChannel lock = FileChannel.open(ROOT.resolve(name + ".lock"), StandardOpenOption.CREATE,
					StandardOpenOption.WRITE)) {
				lock.lock();
				if (!Files.exists(directory)) {
					Path unfinished = ServerProcess.newDirectory(name);
					Files.setPosixFilePermissions(unfinished, PosixFilePermissions.fromString("rwxr-xr-x"));
					preparation.fill(unfinished);
					Files.move(unfinished, directory, StandardCopyOption.ATOMIC_MOVE);
				}
			}
			return directory;
		});
	}

	/**
	 * Another user could have created the directory, since its name can be guessed.
	 */
	private static Path root() throws IOException {
		Files.createDirectories(ROOT);
		Path own = ServerProcess.newDirectory("owner");
		if (!Files.getOwner(ROOT).equals(Files.getOwner(own))) {
			throw new IllegalStateException(ROOT + " belongs to another user, delete it");
		}
		ServerProcess.delete(own);
		return ROOT;
	}

	/**
	 * Makes files.
	 */
	@FunctionalInterface
	interface Preparation {

		void fill(Path directory) throws IOException;

	}

}
