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

	/** The files that quote the words, or run as the user of that name. */
	private static final List<String> QUOTES = List.of("CONTRIBUTING.md",
			"dlock-core/src/test/java/io/dlock/LanguageTests.java",
			"dlock-core/src/test/java/io/dlock/test/PostgresServer.java");

	/** In texts, in the names of mutants (for-ever) and in those of tests (ForEver). */
	private static final Pattern WORDS = Pattern
		.compile("(?i:\\bcan[ \\n*-]+not\\b|\\bfor[ \\n*-]+ever\\b|\\bat[ \\n*-]+the[ \\n*-]+(?:most|least)\\b)"
				+ "|[Aa]nybody|[Ee]verybody|[Nn]obody|[Ss]omebody|[Cc]anNot(?![a-z])|[Ff]orEver(?![a-z])|[Aa]tTheMost(?![a-z])");

	/**
	 * The name of a method whose subject is "who" or "what", after the code of a rule.
	 */
	private static final Pattern NAME = Pattern
		.compile("\\b(?:void|fun) ((?:[a-z]\\d+)*[Ww](?:ho|hat)(?:ever)?[A-Z]\\w*|\\w*Who(?:ever)?[A-Z]\\w*)");

	/** The beginning of a comment or of a sentence in it. */
	private static final Pattern HEADLESS = Pattern
		.compile("(?:/\\*\\*|[.!?:]|<li>|<p>|@return|@param \\S+|@throws \\S+)[\\s*]+((?:Who|What)(?:ever)?|Whose)\\b");

	/** The beginning of a sentence of a page that is neither a question nor a heading. */
	private static final Pattern HEADLESS_ON_A_PAGE = Pattern
		.compile("(?m)(?:^|[.!?:] +|\\| +|[-*>] +|\\d\\. +|\\*\\*)((?:Who|What)(?:ever)?|Whose)\\b"
				+ "(?!(?:[^.!?|\\n]|[.!?](?![ \\n]))*\\?)");

	private static final Pattern COMMENT = Pattern.compile("/\\*\\*.*?\\*/", Pattern.DOTALL);

	@Test
	void textsAreFreeOfTheWorstMistakes() {
		List<String> mistakes = new ArrayList<>();
		for (Path file : Repository.files(".java", ".kt", ".md", ".txt", ".xml")) {
			if (!QUOTES.contains(Repository.name(file))) {
				mistakes.addAll(mistakes(file));
			}
		}
		assertThat(mistakes).isEmpty();
	}

	private static List<String> mistakes(Path file) {
		String text = Repository.read(file);
		List<String> mistakes = new ArrayList<>();
		WORDS.matcher(text)
			.results()
			.forEach((match) -> mistakes.add(mistake(file, text, match.start(), match.group())));
		NAME.matcher(text)
			.results()
			.forEach((match) -> mistakes.add(mistake(file, text, match.start(1), match.group(1))));
		if (file.toString().endsWith(".md")) {
			HEADLESS_ON_A_PAGE.matcher(text)
				.results()
				.forEach((match) -> mistakes.add(mistake(file, text, match.start(1), match.group(1))));
		}
		else {
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
