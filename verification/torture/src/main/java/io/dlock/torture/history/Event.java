package io.dlock.torture.history;

/**
 * The event of a record. The order is the file format: append only.
 */
public enum Event {

	/** Not written, or torn. */
	NONE,

	/**
	 * A call to acquire begins. {@code value} is its wait limit, {@code other} the lease.
	 */
	INVOKE,

	/** It returned with a lock. */
	GRANTED,

	/** It returned: another client holds the lock. */
	REFUSED,

	/** It failed, and may or may not have taken the lock in the store. */
	UNKNOWN,

	/** It was interrupted. */
	INTERRUPTED,

	/** It was refused because the client shuts down. */
	CLOSED,

	/** It failed in a way that the contender does not document. */
	FAILED,

	/**
	 * The hold said that it is valid. One record for each hold, which is updated in
	 * place: {@code nanos} is the end of the first check that was positive, {@code other}
	 * the begin of the last, {@code validUntil} the latest deadline it has published.
	 */
	HELD,

	/**
	 * The lock was acquired again by its holder, or shows another token than at its
	 * grant. {@code token} is that of the nested handle, or the one that it shows,
	 * {@code value} the time that the call took.
	 */
	NESTED,

	/** The listener was told that the lock is lost. */
	LOST,

	/**
	 * The holder asked and found the lock lost. {@code other} is the begin of the check.
	 */
	FOUND_LOST,

	/** The work under the lock begins. */
	BODY_START,

	/** The work under the lock is done. */
	BODY_END,

	/** The fenced counter was read. {@code value} is what it was. */
	FENCED_READ,

	/** The fenced counter was written. {@code value} is what it is now. */
	FENCED_WRITE,

	/**
	 * The fenced counter rejected the token. {@code other} is the highest it has seen.
	 */
	FENCED_REJECTED,

	/** The counter without a fence was read. {@code value} is what it was. */
	UNFENCED_READ,

	/** The counter without a fence was written. {@code value} is what it is now. */
	UNFENCED_WRITE,

	/** The release begins. */
	RELEASE_SENT,

	/** The release returned. */
	RELEASED,

	/** The release said that the lock had been lost before. */
	RELEASED_LOST,

	/** The release failed. */
	RELEASE_FAILED,

	/** The client interrupted one of its threads. */
	INTERRUPT,

	/**
	 * The client did not run: a thread that does nothing but look at the clock was not
	 * scheduled from {@code other} to {@code nanos}, or another one for {@code value} at
	 * some time in between.
	 */
	STALL,

	/** The client ended in good order. */
	END,

	/** The call that begins asks for a future, which another thread completes. */
	ASYNC,

	/**
	 * An account gave or received money. {@code value} is its balance now, {@code other}
	 * the money received, which is negative for the account that gave it.
	 */
	TRANSFER,

	/**
	 * The call that begins asks for one of several places. {@code value} is the number of
	 * calls that may hold the key at the same time.
	 */
	PLACES,

	/**
	 * A holder of one of several places has read the fenced counter twice and was valid
	 * afterwards. {@code value} is the first answer, {@code other} the second.
	 */
	SHARED_READ,

	/**
	 * It returned: the store grants no locks now, since it may have forgotten some.
	 */
	QUARANTINED,

	/**
	 * The call that begins turns the lock of another attempt into a shared one.
	 * {@code value} is its number.
	 */
	DOWNGRADE,

	/**
	 * The holder was not granted the lock again, and was still valid afterwards.
	 * {@code value} is the time that the call took.
	 */
	NESTED_REFUSED,

	/** The assertion that the lock is held did not say the same as the question. */
	CONTRADICTED;

	private static final Event[] VALUES = values();

	static Event of(int code) {
		return (code > 0 && code < VALUES.length) ? VALUES[code] : NONE;
	}

}
