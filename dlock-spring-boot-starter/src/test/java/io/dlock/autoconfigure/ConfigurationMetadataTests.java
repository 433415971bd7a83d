package io.dlock.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.dlock.autoconfigure.ConfigurationMetadata.Property;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The properties in the metadata and on the pages of the documentation.
 */
class ConfigurationMetadataTests {

	/** Of these, the default depends on others; their description says how. */
	private static final List<String> WITHOUT_DEFAULT = List.of("dlock.backend", "dlock.command-timeout",
			"dlock.failover.longest-lease", "dlock.instance", "dlock.jdbc.platform", "dlock.jdbc.wake-up",
			"dlock.max-hold", "dlock.quorum.nodes", "dlock.quorum.ssl.bundle", "dlock.redis.acknowledge-timeout");

	private static final Path REPOSITORY = Path.of("..");

	private static final Path PAGE = REPOSITORY.resolve("docs/configuration.md");

	private final List<Property> properties = ConfigurationMetadata.properties();

	@Test
	void everyPropertyHasADescriptionATypeAndADefault() {
		assertThat(this.properties).allSatisfy((property) -> {
			assertThat(property.type()).as("type of " + property.name()).isNotBlank();
			assertThat(property.description()).as("description of " + property.name())
				.isNotBlank()
				.doesNotContain("{@");
		});
		assertThat(this.properties).filteredOn((property) -> property.defaultValue() == null)
			.allSatisfy((property) -> assertThat(property.description()).as("default of " + property.name())
				.containsIgnoringCase("by default"))
			.extracting(Property::name)
			.containsExactlyInAnyOrderElementsOf(WITHOUT_DEFAULT);
	}

	@Test
	void propertiesOfAllKindsAreThere() {
		assertThat(this.properties).extracting(Property::name)
			.contains("dlock.lease", "dlock.wait-time", "dlock.aop.mode", "dlock.redis.prefix", "dlock.quorum.nodes",
					"dlock.jdbc.table", "dlock.jdbc.initialize-schema", "dlock.transaction.inside",
					"dlock.transaction.commit-check");
	}

	/**
	 * {@code mvn -pl dlock-spring-boot-starter -am test -Dtest=ConfigurationMetadataTests
	 * -Dsurefire.failIfNoSpecifiedTests=false -Ddlock.docs.write=true} writes the page.
	 */
	@Test
	void pageIsWhatTheMetadataSays() throws IOException {
		String page = page();
		if (Boolean.getBoolean("dlock.docs.write")) {
			Files.writeString(PAGE, page);
		}
		assertThat(PAGE).as("docs/configuration.md is out of date: write it with -Ddlock.docs.write=true")
			.hasContent(page);
	}

	private String page() {
		StringBuilder page = new StringBuilder(
				"""
						# Configuration

						All properties of dlock, as an IDE shows them. This page is generated from the metadata of the starter and checked by `ConfigurationMetadataTests`, whose Javadoc explains how to regenerate it.
						Durations need a unit: `30s`, `500ms`, `PT1M`.
						""");
		String group = "";
		for (Property property : this.properties) {
			if (!property.group().equals(group)) {
				group = property.group();
				page.append("\n## `").append(group).append("`\n\n");
				page.append("| property | type | default | description |\n|---|---|---|---|\n");
			}
			page.append("| `%s` | %s | %s | %s |\n".formatted(property.name(), property.shortType(),
					property.defaultText(), property.text().replace("|", "\\|")));
		}
		page.append(
				"""

						## Values that fail the start

						Each row has an invalid value and a part of the message with which the start fails. Role names are not validated. The properties of the endpoint are read if it is exposed. `dlock.console.enabled` is off with any text but `true`. `WrongPropertiesTests` tries the rows of this table.

						""")
			.append(WrongPropertiesTests.TABLE);
		return page.toString();
	}

	@Test
	void propertiesThatAPageSetsExist() throws IOException {
		try (Stream<Path> pages = Files.list(REPOSITORY.resolve("docs"))) {
			for (Path page : Stream.concat(pages, Stream.of(REPOSITORY.resolve("README.md"))).toList()) {
				if (page.toString().endsWith(".md")) {
					assertThat(names()).as("of " + page)
						.containsAll(named("`(dlock\\.[a-z.-]+)[=:]", Files.readString(page)));
				}
			}
		}
	}

	private List<String> names() {
		return this.properties.stream().map(Property::name).toList();
	}

	private static List<String> named(String expression, String text) {
		List<String> names = Pattern.compile(expression, Pattern.MULTILINE)
			.matcher(text)
			.results()
			.map((match) -> match.group(1))
			.toList();
		return names;
	}

}
