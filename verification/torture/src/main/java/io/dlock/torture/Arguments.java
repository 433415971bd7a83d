package io.dlock.torture;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Arguments of the form {@code --name=value}.
 *
 * @param values the values by name
 */
public record Arguments(Map<String, String> values) {

	/**
	 * Parse a command line.
	 * @param args its arguments
	 * @return the arguments
	 */
	public static Arguments parse(String... args) {
		Map<String, String> values = new HashMap<>();
		for (String arg : args) {
			int equals = arg.indexOf('=');
			if (!arg.startsWith("--") || equals < 0) {
				throw new IllegalArgumentException("Not of the form --name=value: " + arg);
			}
			values.put(arg.substring(2, equals), arg.substring(equals + 1));
		}
		return new Arguments(Map.copyOf(values));
	}

	/**
	 * A value that must be there.
	 * @param name its name
	 * @return the value
	 */
	public String text(String name) {
		String value = this.values.get(name);
		if (value == null) {
			throw new IllegalArgumentException("--" + name + " is missing");
		}
		return value;
	}

	public String text(String name, String otherwise) {
		@Nullable String value = this.values.get(name);
		return (value != null) ? value : otherwise;
	}

	public int number(String name, int otherwise) {
		return Integer.parseInt(text(name, Integer.toString(otherwise)));
	}

	public long number(String name, long otherwise) {
		return Long.parseLong(text(name, Long.toString(otherwise)));
	}

}
