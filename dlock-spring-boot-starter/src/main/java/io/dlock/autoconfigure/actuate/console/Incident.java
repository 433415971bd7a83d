package io.dlock.autoconfigure.actuate.console;

import org.jspecify.annotations.Nullable;

/**
 * An incident.
 *
 * @param nanos its time
 * @param type its type
 * @param key the key as it is stored
 * @param name the name of the request, or {@code null}
 * @param reason the reason of the request, or {@code null}
 * @param token the fencing token, or {@code null}
 * @param text a text for people, without the key
 * @param detail more text, which may contain the key, or {@code null}
 */
record Incident(long nanos, String type, String key, @Nullable String name, @Nullable String reason,
		@Nullable Long token, String text, @Nullable String detail) {

	/** An estimate for what is around the texts. */
	private static final int BYTES = 160;

	int bytes() {
		return BYTES + 2 * (this.key.length() + length(this.name) + length(this.reason) + this.text.length()
				+ length(this.detail));
	}

	private static int length(@Nullable String text) {
		return (text != null) ? text.length() : 0;
	}

}
