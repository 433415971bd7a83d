package io.dlock.engine;

import org.jspecify.annotations.Nullable;

import io.dlock.engine.MachineClock.Moment;

/**
 * Requests of one owner that the store has not answered: it may have executed them, or
 * may do so yet.
 *
 * @param requests how many
 * @param lastSent when the last of them was sent
 */
record Unresolved(int requests, Moment lastSent) {

	static Unresolved add(@Nullable Unresolved before, Moment sent) {
		return new Unresolved((before != null) ? before.requests + 1 : 1, sent);
	}

}
