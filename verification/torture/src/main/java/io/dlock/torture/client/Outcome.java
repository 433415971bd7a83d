package io.dlock.torture.client;

import java.util.List;
import java.util.function.Supplier;

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
	 * All locks are held.
	 *
	 * @param holdings the locks, in the order of their calls
	 * @param together releases all of them at once, and answers what came of each
	 */
	record AllGranted(List<Holding> holdings, Supplier<List<Event>> together) implements Outcome {

		AllGranted(List<Holding> holdings) {
			this(holdings, () -> holdings.stream().map(Holding::release).toList());
		}

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
