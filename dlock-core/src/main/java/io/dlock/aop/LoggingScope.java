package io.dlock.aop;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

import io.dlock.LockHandle;

/**
 * Shows the lock of a method in the lines that are logged by it: what was shown before is
 * shown again afterwards. Not the key, which may be somebody's name.
 */
final class LoggingScope {

	static final String TOKEN = "dlock.token";

	static final String REASON = "dlock.reason";

	private final @Nullable String outerToken = MDC.get(TOKEN);

	private final @Nullable String outerReason = MDC.get(REASON);

	LoggingScope(LockHandle handle, String reason) {
		MDC.put(TOKEN, Long.toString(handle.token()));
		MDC.put(REASON, reason);
	}

	void end() {
		restore(TOKEN, this.outerToken);
		restore(REASON, this.outerReason);
	}

	private static void restore(String name, @Nullable String value) {
		if (value != null) {
			MDC.put(name, value);
		}
		else {
			MDC.remove(name);
		}
	}

}
