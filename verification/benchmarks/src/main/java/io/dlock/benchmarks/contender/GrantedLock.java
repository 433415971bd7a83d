package io.dlock.benchmarks.contender;

import org.jspecify.annotations.Nullable;

/**
 * A lock whose acquisition returns its release.
 */
final class GrantedLock implements ContenderLock {

	private final Acquisition acquisition;

	private @Nullable Runnable release;

	GrantedLock(Acquisition acquisition) {
		this.acquisition = acquisition;
	}

	@Override
	public void acquire() throws InterruptedException {
		this.release = this.acquisition.run();
	}

	@Override
	public void release() {
		Runnable held = this.release;
		if (held != null) {
			this.release = null;
			held.run();
		}
	}

	/**
	 * Waits for the lock.
	 */
	@FunctionalInterface
	interface Acquisition {

		Runnable run() throws InterruptedException;

	}

}
