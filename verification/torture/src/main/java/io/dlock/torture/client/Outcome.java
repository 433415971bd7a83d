package io.dlock.torture.client;

import io.dlock.torture.history.Event;

/**
 * The outcome of a call to acquire.
 */
sealed interface Outcome {

	/**
	 * The lock is held.
	 *
	 * @param holding the lock
	 */
	record Granted(Holding holding) implements Outcome {

	}

	/**
	 * The lock is not held.
	 *
	 * @param event why
	 * @param reason why, in words
	 */
	record NotGranted(Event event, String reason) implements Outcome {

		static NotGranted of(Event event, Throwable cause) {
			return new NotGranted(event, cause.toString());
		}

	}

}
