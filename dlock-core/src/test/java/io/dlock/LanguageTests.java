package io.dlock;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import io.dlock.test.Repository;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The worst mistakes of language, which a test can find: see "Language" in
 * {@code CONTRIBUTING.md}.
 */
class LanguageTests {

	/**
	 * Directories (without those below) and files that are not clean yet. The list only
	 * shrinks: a path that is clean has to leave it.
	 */
	private static final List<String> NOT_CLEAN_YET = List.of("CHANGELOG.md",
			"dlock-core/src/main/java/io/dlock",
			"dlock-core/src/main/java/io/dlock/aop",
			"dlock-core/src/main/java/io/dlock/engine",
			"dlock-core/src/main/java/io/dlock/metrics",
			"dlock-core/src/main/java/io/dlock/observation",
			"dlock-core/src/test/java/io/dlock/ArchitectureTests.java",
			"dlock-core/src/test/java/io/dlock/aop",
			"dlock-core/src/test/java/io/dlock/aop/elsewhere",
			"dlock-core/src/test/java/io/dlock/engine",
			"dlock-core/src/test/java/io/dlock/metrics",
			"dlock-core/src/test/java/io/dlock/store",
			"dlock-core/src/test/java/io/dlock/store/jdbc",
			"dlock-core/src/test/java/io/dlock/store/jdbc/dialect",
			"dlock-core/src/test/java/io/dlock/store/memory",
			"dlock-core/src/test/java/io/dlock/store/redis",
			"dlock-spring-boot-starter/src/test/java/io/dlock/autoconfigure",
			"verification/kotlin/src/test/kotlin/io/dlock/aop");

	/** The files that quote the words, or run as the user of that name. */
	private static final List<String> QUOTES = List.of("CONTRIBUTING.md",
			"dlock-core/src/test/java/io/dlock/LanguageTests.java",
			"dlock-core/src/test/java/io/dlock/test/PostgresServer.java");

	private static final Pattern WORDS = Pattern.compile(
			"(?i:\\bcan[ \\n*]+not\\b|\\bfor[ \\n*]+ever\\b|\\bat[ \\n*]+the[ \\n*]+most\\b)|[Nn]obody|[Ss]omebody");

	/** The beginning of a comment or of a sentence in it. */
	private static final Pattern HEADLESS = Pattern
		.compile("(?:/\\*\\*|[.!?:]|<li>|<p>|@return|@param \\S+|@throws \\S+)[\\s*]+((?:Who|What)(?:ever)?)\\b");

	private static final Pattern COMMENT = Pattern.compile("/\\*\\*.*?\\*/", Pattern.DOTALL);

	@Test
	void textsAreFreeOfTheWorstMistakes() {
		List<String> mistakes = new ArrayList<>();
		for (Path file : Repository.files(".java", ".kt", ".md")) {
			if (!QUOTES.contains(Repository.name(file))
					&& NOT_CLEAN_YET.stream().noneMatch((path) -> isIn(file, path))) {
				mistakes.addAll(mistakes(file));
			}
		}
		assertThat(mistakes).isEmpty();
	}

	@Test
	void pathsThatAreCleanLeaveTheList() {
		List<Path> files = Repository.files(".java", ".kt", ".md");
		assertThat(NOT_CLEAN_YET).allSatisfy((path) -> assertThat(files).as("%s is clean: take it off the list", path)
			.anyMatch((file) -> isIn(file, path) && !mistakes(file).isEmpty()));
	}

	private static boolean isIn(Path file, String path) {
		return Repository.name(file).equals(path) || Repository.name(file.getParent()).equals(path);
	}

	private static List<String> mistakes(Path file) {
		String text = Repository.read(file);
		List<String> mistakes = new ArrayList<>();
		WORDS.matcher(text)
			.results()
			.forEach((match) -> mistakes.add(mistake(file, text, match.start(), match.group())));
		if (!file.toString().endsWith(".md")) {
			COMMENT.matcher(text)
				.results()
				.forEach((comment) -> HEADLESS.matcher(comment.group())
					.results()
					.forEach((match) -> mistakes
						.add(mistake(file, text, comment.start() + match.start(1), match.group(1)))));
		}
		return mistakes;
	}

	private static String mistake(Path file, String text, int position, String words) {
		long line = text.substring(0, position).chars().filter((character) -> character == '\n').count() + 1;
		return "%s:%d: %s".formatted(Repository.name(file), line, words.replaceAll("\\s+", " "));
	}

}
