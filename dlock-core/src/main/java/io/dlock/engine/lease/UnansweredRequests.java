package io.dlock.engine.lease;

import org.jspecify.annotations.Nullable;

import io.dlock.engine.concurrent.MachineClock.Moment;

/**
 * Requests of one owner that the store has not answered, and may or may not have
 * executed.
 *
 * @param requests the number of requests
 * @param lastSent the time at which the last of them was sent
 */
public record UnansweredRequests(int requests, Moment lastSent) {

	public static UnansweredRequests add(@Nullable UnansweredRequests before, Moment sent) {
		return new UnansweredRequests((before != null) ? before.requests + 1 : 1, sent);
	}

}
