package io.dlock.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.util.ClassUtils;

/**
 * What the starter tells an IDE of its properties.
 */
final class ConfigurationMetadata {

	private ConfigurationMetadata() {
	}

	@SuppressWarnings("unchecked")
	static List<Property> properties() {
		try (InputStream metadata = ConfigurationMetadata.class
			.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
			String json = new String(metadata.readAllBytes(), StandardCharsets.UTF_8);
			List<Map<String, Object>> properties = (List<Map<String, Object>>) JsonParserFactory.getJsonParser()
				.parseMap(json)
				.get("properties");
			return properties.stream()
				.map((property) -> new Property((String) property.get("name"), (String) property.get("type"),
						(String) property.get("description"), property.get("defaultValue")))
				.sorted(Comparator.comparing(Property::name))
				.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A property.
	 *
	 * @param name its name
	 * @param type the name of its Java type
	 * @param description what it is for
	 * @param defaultValue its default, or {@code null} if that depends on others
	 */
	record Property(String name, String type, @Nullable String description, @Nullable Object defaultValue) {

		/**
		 * What it is for and, if they are few, which values it can have.
		 */
		String text() {
			List<String> values = values();
			return this.description + (values.isEmpty() ? "" : " One of `" + String.join("`, `", values) + "`.");
		}

		private List<String> values() {
			Class<?> resolved = ClassUtils.resolveClassName(this.type, null);
			Object[] constants = resolved.getEnumConstants();
			return (constants != null) ? Arrays.stream(constants)
				.map((constant) -> ((Enum<?>) constant).name().toLowerCase(Locale.ROOT).replace('_', '-'))
				.toList() : List.of();
		}

		String shortType() {
			return ClassUtils.getShortName(this.type);
		}

		String defaultText() {
			Object value = (this.defaultValue instanceof Collection<?> values && values.size() == 1)
					? values.iterator().next() : this.defaultValue;
			return (value != null) ? "`" + value + "`" : "";
		}

		String group() {
			return this.name.substring(0, this.name.lastIndexOf('.'));
		}

	}

}
