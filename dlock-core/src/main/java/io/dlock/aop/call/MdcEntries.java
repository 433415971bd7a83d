package io.dlock.aop.call;

import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * The entries of the locks of a call in the log. The key is not among them, because it
 * may be personal.
 *
 * @param token the fencing token, or that of each key, or {@code null} to show none
 * @param reason the reason, or {@code null} to show none
 */
record MdcEntries(@Nullable String token, @Nullable String reason) {

	private static final String TOKEN = "dlock.token";

	private static final String REASON = "dlock.reason";

	static final MdcEntries NONE = new MdcEntries(null, null);

	static MdcEntries of(List<Long> tokens, String reason) {
		return new MdcEntries((tokens.size() == 1) ? tokens.get(0).toString() : joined(tokens), reason);
	}

	private static String joined(List<Long> tokens) {
		return tokens.stream().map(String::valueOf).collect(Collectors.joining(", "));
	}

	/**
	 * The entries that the log of the calling thread shows now.
	 */
	static MdcEntries shown() {
		String token = MDC.get(TOKEN);
		String reason = MDC.get(REASON);
		return (token != null || reason != null) ? new MdcEntries(token, reason) : NONE;
	}

	void show() {
		show(TOKEN, this.token);
		show(REASON, this.reason);
	}

	private static void show(String name, @Nullable String value) {
		if (value != null) {
			MDC.put(name, value);
		}
		else {
			MDC.remove(name);
		}
	}

}
