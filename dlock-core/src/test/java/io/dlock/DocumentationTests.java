package io.dlock;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import io.dlock.test.Repository;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * References between pages, tests and mutants: links lead to a place that exists, and
 * each code is defined in {@code docs/rules.md}.
 */
class DocumentationTests {

	private static final Path RULES = Path.of("docs/rules.md");

	private static final Path DECISIONS = Path.of("docs/decisions.md");

	/** A link and its target, which may have an anchor. */
	private static final Pattern LINK = Pattern.compile("\\]\\(([^)#\\s]*)(#[^)\\s]+)?\\)");

	private static final Pattern HEADING = Pattern.compile("^#+ (.+)$", Pattern.MULTILINE);

	private static final Pattern ANCHOR = Pattern.compile("<a id=\"([^\"]+)\">");

	private static final Pattern CODE_BLOCK = Pattern.compile("^\\s*```.*?^\\s*```",
			Pattern.MULTILINE | Pattern.DOTALL);

	/** A row of the tables of rules. */
	private static final Pattern DEFINITION = Pattern.compile("^\\| \\**([A-Z]\\d+b?)\\** \\|", Pattern.MULTILINE);

	/** A code in a text, such as R23 or F28b. */
	private static final Pattern CODE = Pattern
		.compile("(?<![\\w%.#])([RBFIPACD])0?(?!99)(\\d{1,2}b?)(?!\\w|\\.\\w| Compiler)");

	/** The codes in the name of a test or a mutant: r23…, r38r44…, b9-b11-…. */
	private static final Pattern PREFIX = Pattern
		.compile("(?:^|(?<=[ #+,*`…-]))(?:[rbfipacd]\\d{1,2})+(?=[A-Z*…]|-[a-z])", Pattern.MULTILINE);

	private static final Pattern CODE_OF_PREFIX = Pattern.compile("([a-z])(\\d{1,2})");

	private static final Pattern DECISION = Pattern.compile("\\bdecisions? (\\d+)");

	@Test
	void linksLeadToAPlaceThatExists() {
		List<String> broken = new ArrayList<>();
		for (Path page : Repository.files(".md")) {
			Matcher link = LINK.matcher(withoutCode(Repository.read(page)));
			while (link.find()) {
				if (!link.group(1).contains("://") && !leadsSomewhere(page, link.group(1), link.group(2))) {
					broken.add(Repository.name(page) + ": " + link.group());
				}
			}
		}
		assertThat(broken).isEmpty();
	}

	private static boolean leadsSomewhere(Path page, String path, String anchor) {
		Path target = path.isEmpty() ? page : page.resolveSibling(path);
		return Files.exists(target)
				&& (anchor == null || anchors(Repository.read(target)).contains(anchor.substring(1)));
	}

	/**
	 * Collect the anchors of a page, those of its headings as GitHub makes them.
	 */
	private static Set<String> anchors(String text) {
		Set<String> anchors = new HashSet<>();
		String page = withoutCode(text);
		each(HEADING, page, (match) -> anchors
			.add(match.group(1).toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-')));
		each(ANCHOR, page, (match) -> anchors.add(match.group(1)));
		return anchors;
	}

	@Test
	void pagesAreInTheIndex() {
		String index = Repository.read(Path.of("docs/README.md"));
		List<String> pages = Repository.files(".md")
			.stream()
			.map(Repository::name)
			.filter((page) -> page.startsWith("docs/") && !page.endsWith("/README.md"))
			.map((page) -> page.substring("docs/".length()))
			.toList();
		assertThat(pages).hasSizeGreaterThan(15).allSatisfy((page) -> assertThat(index).contains("(" + page + ")"));
	}

	@Test
	void codesAreDefined() {
		Set<String> defined = new HashSet<>();
		each(DEFINITION, Repository.read(RULES), (match) -> defined.add(match.group(1)));
		TreeMap<String, String> undefined = new TreeMap<>();
		for (Path file : Repository.files(".java", ".kt", ".md", "mutants.txt")) {
			String name = Repository.name(file);
			if (!name.startsWith("verification/benchmarks") && !name.endsWith("DocumentationTests.java")) {
				Consumer<Matcher> check = (match) -> {
					String code = match.group(1).toUpperCase(Locale.ROOT) + match.group(2);
					if (!defined.contains(code)) {
						undefined.put(code, name);
					}
				};
				String text = Repository.read(file);
				each(CODE, text, check);
				each(PREFIX, text, (prefix) -> each(CODE_OF_PREFIX, prefix.group(), check));
			}
		}
		assertThat(defined).hasSizeGreaterThan(100);
		assertThat(undefined).as("codes that docs/rules.md does not define").isEmpty();
	}

	@Test
	void decisionsExist() {
		Set<String> anchors = anchors(Repository.read(DECISIONS));
		List<String> missing = new ArrayList<>();
		for (Path file : Repository.files(".java", ".kt", ".md", "mutants.txt")) {
			each(DECISION, Repository.read(file), (match) -> {
				if (!anchors.contains("decision-" + match.group(1))) {
					missing.add(Repository.name(file) + ": " + match.group());
				}
			});
		}
		assertThat(missing).isEmpty();
	}

	private static String withoutCode(String page) {
		return CODE_BLOCK.matcher(page).replaceAll("");
	}

	private static void each(Pattern pattern, String text, Consumer<Matcher> action) {
		Matcher matcher = pattern.matcher(text);
		while (matcher.find()) {
			action.accept(matcher);
		}
	}

}
