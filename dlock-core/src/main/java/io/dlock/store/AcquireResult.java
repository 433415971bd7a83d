package io.dlock.store;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The answer of a store to an acquire.
 *
 * @since 0.1
 */
public sealed interface AcquireResult {

	/**
	 * The owner holds the key.
	 *
	 * @param token the fencing token, as minted by the store: microseconds of its clock,
	 * or one more than the last
	 */
	record Granted(long token) implements AcquireResult {

	}

	/**
	 * Another owner holds the key.
	 *
	 * @param remaining how long its lease lasts unless it is renewed or released
	 * @param holder the holder, for people, or {@code null} if it has gone by now
	 */
	record Refused(Duration remaining, @Nullable String holder) implements AcquireResult {

	}

}
