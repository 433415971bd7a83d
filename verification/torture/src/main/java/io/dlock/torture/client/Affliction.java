package io.dlock.torture.client;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A fault inside the client, which suffers from it when the nemesis says so.
 */
@FunctionalInterface
interface Affliction {

	/**
	 * Suffer from it until its time is over, and take everything back.
	 * @param dose how much, and how long
	 * @return what came of it
	 */
	Effect suffer(Dose dose);

	/**
	 * The amount of it.
	 *
	 * @param name a name that no other dose of any client has, for keys that no other
	 * dose uses
	 * @param end when it is over, by {@link System#nanoTime()}
	 * @param amount how much, in a unit of the fault
	 * @param stopped whether the client is to come to an end before
	 */
	record Dose(String name, long end, int amount, AtomicBoolean stopped) {

		private static final long STEP_NANOS = 20_000_000;

		boolean goesOn() {
			return left().toNanos() > 0 && !this.stopped.get();
		}

		Duration left() {
			return Duration.ofNanos(Math.max(0, this.end - System.nanoTime()));
		}

		/**
		 * Wait for a moment, less if it is over before.
		 * @return whether it goes on
		 */
		boolean pause() {
			LockSupport.parkNanos(Math.min(STEP_NANOS, left().toNanos()));
			return goesOn();
		}

	}

	/**
	 * The result.
	 *
	 * @param keys how many keys it locked that no other client uses
	 * @param text more about it
	 */
	record Effect(int keys, String text) {

	}

}
