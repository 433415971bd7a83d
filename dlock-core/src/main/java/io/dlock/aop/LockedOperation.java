package io.dlock.aop;

import java.lang.reflect.Method;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.dlock.LockRequest;
import io.dlock.OnBusy;
import io.dlock.OnLost;

/**
 * What a {@link io.dlock.DistributedLocked} annotation says about a method: read and
 * checked once.
 *
 * @param key how to get the key of a call
 * @param lease the lease, or {@code null} for the default
 * @param waitTime the wait time, or {@code null} for the default
 * @param renew whether to renew
 * @param onBusy what to do when the lock is busy and there is no fallback
 * @param fallback what to call when the lock is busy, or {@code null}
 * @param onLost what to do when the lock is lost
 * @param reason why, for operators
 * @param name what it is called in events and metrics
 * @param minHold the shortest time the lock stays taken, or {@code null}
 * @param maxHold the longest time it is held, or {@code null} for the default
 * @param outage what to do when the store fails
 * @param observations who is told of calls
 * @param completion how to hold the lock when the work goes on after the return, or
 * {@code null} if it does not
 */
record LockedOperation(LockKey key, @Nullable Duration lease, @Nullable Duration waitTime, boolean renew, OnBusy onBusy,
		@Nullable Method fallback, OnLost onLost, String reason, String name, @Nullable Duration minHold,
		@Nullable Duration maxHold, OutagePolicy outage, CallObservations observations,
		@Nullable CompletionBound completion) {

	LockRequest request(String evaluatedKey) {
		return LockRequest.builder(evaluatedKey)
			.lease(this.lease)
			.waitTime(this.waitTime)
			.renew(this.renew)
			.reason(this.reason)
			.name(this.name)
			.minHold(this.minHold)
			.maxHold(this.maxHold)
			.failOpen(this.outage.isFailOpen())
			.build();
	}

	/**
	 * A call begins.
	 * @param evaluatedKey the key it is about to lock
	 * @param parent the observation that it is part of, or {@code null} for that of the
	 * thread
	 * @return who is to be told how it goes
	 */
	CallObservation observe(String evaluatedKey, @Nullable Object parent) {
		return this.observations.start(this.name, evaluatedKey, parent);
	}

}
