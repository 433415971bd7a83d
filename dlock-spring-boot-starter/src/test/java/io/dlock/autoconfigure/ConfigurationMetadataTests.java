package io.dlock.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an IDE shows: every property has a type and a description, and a default unless it
 * depends on others.
 */
class ConfigurationMetadataTests {

	private static final List<String> WITHOUT_DEFAULT = List.of("dlock.backend", "dlock.command-timeout",
			"dlock.instance", "dlock.max-hold", "dlock.jdbc.platform");

	@Test
	@SuppressWarnings("unchecked")
	void everyPropertyIsDescribed() throws IOException {
		try (InputStream metadata = getClass().getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
			String json = new String(metadata.readAllBytes());
			List<Map<String, Object>> properties = (List<Map<String, Object>>) JsonParserFactory.getJsonParser()
				.parseMap(json)
				.get("properties");
			List<String> names = new ArrayList<>();
			assertThat(properties).allSatisfy((property) -> {
				String name = (String) property.get("name");
				names.add(name);
				assertThat((String) property.get("type")).as(name).isNotBlank();
				assertThat((String) property.get("description")).as("description of " + name).isNotBlank();
				assertThat(property.get("defaultValue") != null || WITHOUT_DEFAULT.contains(name))
					.as("default of " + name)
					.isTrue();
			});
			assertThat(names).contains("dlock.lease", "dlock.wait-time", "dlock.redis.prefix", "dlock.jdbc.table",
					"dlock.jdbc.initialize-schema", "dlock.transaction.inside", "dlock.transaction.commit-check");
		}
	}

}
