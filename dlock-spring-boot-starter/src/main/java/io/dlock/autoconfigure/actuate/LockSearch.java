package io.dlock.autoconfigure.actuate;

import java.util.Locale;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.dlock.LockInfo;
import io.dlock.store.StorageKey;

/**
 * The search of a caller of the endpoint; a lock has to match every part of it.
 *
 * @param keyPart a part of the key, as it is stored or as the user wrote it, or
 * {@code null}
 * @param name the name, or {@code null}
 * @param reason a part of the reason, or {@code null}
 */
record LockSearch(@Nullable String keyPart, @Nullable String name, @Nullable String reason) {

	/** The number of locks of the store that are searched. */
	static final int LOCKS = DlocksEndpointProperties.MAX_LIMIT;

	LockSearch {
		checkNotBlank("keyPart", keyPart);
		checkNotBlank("name", name);
		checkNotBlank("reason", reason);
	}

	private static void checkNotBlank(String parameter, @Nullable String value) {
		if (value != null && value.isBlank()) {
			throw new IllegalArgumentException(
					"The parameter '" + parameter + "' is blank. Give it a text to look for");
		}
	}

	boolean isForAll() {
		return Stream.of(this.keyPart, this.name, this.reason).allMatch((wanted) -> wanted == null);
	}

	boolean matches(String key, @Nullable String lockName, @Nullable String lockReason) {
		return (this.name == null || this.name.equals(lockName)) && matches(key, lockReason);
	}

	/**
	 * The store has no names, but the keys of annotated methods begin with them.
	 */
	boolean matches(LockInfo lock) {
		return (this.name == null || (lock.key() + ":").startsWith(StorageKey.ofShown(this.name) + ":"))
				&& matches(lock.key(), lock.reason());
	}

	private boolean matches(String key, @Nullable String lockReason) {
		return (this.keyPart == null || contains(key, StorageKey.ofShown(this.keyPart)))
				&& (this.reason == null || (lockReason != null && contains(lockReason, this.reason)));
	}

	private static boolean contains(String text, String part) {
		return text.toLowerCase(Locale.ROOT).contains(part.toLowerCase(Locale.ROOT));
	}

}
