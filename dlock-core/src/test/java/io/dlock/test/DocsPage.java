package io.dlock.test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The commands of a page of {@code docs}, so that the tests run just these.
 */
public final class DocsPage {

	private final String name;

	private DocsPage(String name) {
		this.name = name;
	}

	/**
	 * A page.
	 * @param name the name of its file
	 * @return the page
	 */
	public static DocsPage of(String name) {
		return new DocsPage(name);
	}

	/**
	 * The lines of the page that begin so.
	 * @param beginning the beginning
	 * @return the lines, at least one
	 */
	public List<String> lines(String beginning) {
		List<String> lines = ServerProcess.unlessExiting(() -> Files.readAllLines(Path.of("..", "docs", this.name)))
			.stream()
			.filter((line) -> line.startsWith(beginning))
			.toList();
		if (lines.isEmpty()) {
			throw new IllegalStateException(this.name + " has no line '" + beginning + "…'");
		}
		return lines;
	}

}
