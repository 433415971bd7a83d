package io.dlock.torture.client;

import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;

/**
 * Keys that a component on the way could misunderstand, or could take for one another.
 */
final class HostileKeys {

	private static final String LONG = "x".repeat(10_240);

	private static final List<UnaryOperator<String>> KINDS = List.of((key) -> key,
			(key) -> key.toUpperCase(Locale.ROOT), (key) -> key + " ", (key) -> " " + key, (key) -> key + "\u00e9",
			(key) -> key + "e\u0301", (key) -> key + "\0", (key) -> key + "\n'; DROP TABLE dlock_lock; --",
			(key) -> key + "%", (key) -> key + "%41", (key) -> key + "A", (key) -> key + "_%*?[a-z]%a+(.)\\%s{}",
			(key) -> "{b017}:lock:{" + key + "}", (key) -> key + "\"\r\t\\u0041${x}#{x}", (key) -> key + "\ud83d\ude00",
			(key) -> key + "\ud83d", (key) -> LONG + key, (key) -> LONG + key.toUpperCase(Locale.ROOT));

	/** How many keys are made of one name. */
	static final int COUNT = KINDS.size();

	private HostileKeys() {
	}

	/**
	 * Make keys that have to be different locks.
	 * @param name what they are made of, with a lower case letter and nothing else that
	 * is hostile
	 * @return the keys
	 */
	static List<String> of(String name) {
		return KINDS.stream().map((kind) -> kind.apply(name)).toList();
	}

}
