package io.dlock.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.util.ClassUtils;

/**
 * The metadata of the properties, as an IDE reads it.
 */
final class ConfigurationMetadata {

	private ConfigurationMetadata() {
	}

	/**
	 * All properties, those of a group together.
	 */
	static List<Property> properties() {
		Map<String, Object> metadata = metadata();
		Map<String, List<String>> values = new HashMap<>();
		entries(metadata, "hints").forEach((hint) -> values.put((String) hint.get("name"),
				entries(hint, "values").map((value) -> (String) value.get("value")).toList()));
		return entries(metadata, "properties")
			.map((property) -> new Property((String) property.get("name"), (String) property.get("type"),
					(String) property.get("description"), property.get("defaultValue"),
					values.getOrDefault((String) property.get("name"), List.of())))
			.sorted(Comparator.comparing(Property::group).thenComparing(Property::name))
			.toList();
	}

	private static Map<String, Object> metadata() {
		try (InputStream metadata = ConfigurationMetadata.class
			.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
			return JsonParserFactory.getJsonParser()
				.parseMap(new String(metadata.readAllBytes(), StandardCharsets.UTF_8));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@SuppressWarnings("unchecked")
	private static Stream<Map<String, Object>> entries(Map<String, Object> parent, String name) {
		return ((List<Map<String, Object>>) parent.getOrDefault(name, List.of())).stream();
	}

	/**
	 * A property.
	 *
	 * @param name its name
	 * @param type the name of its Java type
	 * @param description what it is for
	 * @param defaultValue its default, or {@code null} if that depends on others
	 * @param hinted the values that are hinted at
	 */
	record Property(String name, String type, String description, @Nullable Object defaultValue, List<String> hinted) {

		/**
		 * Its description and, if they are few, its possible values.
		 */
		String text() {
			List<String> values = values();
			return this.description + (this.description.endsWith(".") ? "" : ".")
					+ (values.isEmpty() ? "" : " One of `" + String.join("`, `", values) + "`.");
		}

		private List<String> values() {
			Object[] constants = ClassUtils.resolveClassName(rawType(), null).getEnumConstants();
			return (!this.hinted.isEmpty() || constants == null) ? this.hinted
					: Arrays.stream(constants)
						.map((constant) -> ((Enum<?>) constant).name().toLowerCase(Locale.ROOT).replace('_', '-'))
						.toList();
		}

		String shortType() {
			return this.type.replaceAll("[a-z]+\\.", "");
		}

		private String rawType() {
			return this.type.replaceFirst("<.*", "");
		}

		String defaultText() {
			// some JSON parsers know one kind of number only
			Object value = (this.defaultValue instanceof Number number) ? number.longValue() : this.defaultValue;
			return (value != null) ? "`" + value + "`" : "";
		}

		String group() {
			return this.name.substring(0, this.name.lastIndexOf('.'));
		}

	}

}
