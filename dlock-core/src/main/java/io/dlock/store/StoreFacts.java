package io.dlock.store;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The facts that a store reports about itself.
 *
 * @param server the product and its version
 * @param role the role of the server, such as primary, or {@code null} if it has none or
 * did not report it
 * @param warnings the settings that may cost a lock and the facts that are unknown, in
 * sentences
 * @since 0.1
 */
public record StoreFacts(String server, @Nullable String role, List<String> warnings) {

	public StoreFacts {
		warnings = List.copyOf(warnings);
	}

}
