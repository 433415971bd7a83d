package io.dlock.aop;

import io.dlock.LockHandle;

/**
 * Shows the lock of a method in the lines that are logged by it: what was shown before is
 * shown again afterwards.
 */
final class LoggingScope {

	private final LogEntries outer = LogEntries.shown();

	LoggingScope(LockHandle handle, String reason) {
		LogEntries.of(handle, reason).show();
	}

	void end() {
		this.outer.show();
	}

}
