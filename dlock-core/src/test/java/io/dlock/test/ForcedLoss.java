package io.dlock.test;

import io.dlock.LockHandle;
import io.dlock.console.ForcedRelease;
import io.dlock.console.LockConsole;
import io.dlock.engine.LeaseLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Ends locks as an operator does. A lease that is short enough to wait for its end may
 * also end before the method begins, on a machine that is busy.
 */
public final class ForcedLoss {

	private ForcedLoss() {
	}

	/**
	 * End the lock of the calling method.
	 */
	public static void ofCurrent(LeaseLockRegistry registry) {
		of(registry, LockHandle.current().orElseThrow());
	}

	public static void of(LeaseLockRegistry registry, LockHandle handle) {
		of(registry, handle.key());
		assertThat(handle.isValid()).isFalse();
	}

	public static void of(LeaseLockRegistry registry, String key) {
		LockConsole console = registry.console();
		assertThat(console.forceRelease(key, console.find(key).orElseThrow().token()))
			.isEqualTo(ForcedRelease.RELEASED);
	}

}
