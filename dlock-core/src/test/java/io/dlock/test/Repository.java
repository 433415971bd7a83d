package io.dlock.test;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The text files of this repository, for tests that read them.
 */
public final class Repository {

	private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

	private static final Set<String> SKIPPED = Set.of(".git", "target", "data");

	private Repository() {
	}

	/**
	 * Find the files with one of some extensions, outside of build directories.
	 * @param extensions the extensions, such as {@code .md}
	 * @return the files, by name
	 */
	public static List<Path> files(String... extensions) {
		List<Path> files = new ArrayList<>();
		ServerProcess.unlessExiting(() -> Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {

			@Override
			public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
				return SKIPPED.contains(directory.getFileName().toString()) ? FileVisitResult.SKIP_SUBTREE
						: FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
				for (String extension : extensions) {
					if (file.toString().endsWith(extension)) {
						files.add(file);
					}
				}
				return FileVisitResult.CONTINUE;
			}

			/**
			 * A file that another process has deleted meanwhile.
			 */
			@Override
			public FileVisitResult visitFileFailed(Path file, IOException ex) throws IOException {
				if (ex instanceof NoSuchFileException) {
					return FileVisitResult.CONTINUE;
				}
				throw ex;
			}

		}));
		files.sort(null);
		return files;
	}

	/**
	 * Read a file.
	 * @param file a path relative to the root of the repository, or one of {@link #files}
	 * @return its text
	 */
	public static String read(Path file) {
		return ServerProcess.unlessExiting(() -> Files.readString(ROOT.resolve(file)));
	}

	/**
	 * The name of a file for messages.
	 * @param file one of {@link #files}
	 * @return its path below the root, with slashes
	 */
	public static String name(Path file) {
		return ROOT.relativize(file).toString().replace('\\', '/');
	}

}
