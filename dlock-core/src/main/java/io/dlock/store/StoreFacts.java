package io.dlock.store;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What a store says of itself.
 *
 * @param server what it is, with its version
 * @param role the part the server plays, or {@code null} if it has none or did not say
 * @param warnings what may cost a lock, and what could not be found out, in sentences
 * @since 0.1
 */
public record StoreFacts(String server, @Nullable String role, List<String> warnings) {

	public StoreFacts {
		warnings = List.copyOf(warnings);
	}

}
