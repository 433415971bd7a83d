package io.dlock.torture.client;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.history.HistoryWriter;

/**
 * Writes down what happens to one call to acquire and to its lock.
 */
final class AttemptLog {

	private static final long BEFORE_DEADLINE = 20_000_000;

	/**
	 * More than the judge gives the machine to tell the listener, also in the brief run
	 * of a build, and less than the lease.
	 */
	private static final long LISTENERS_TURN = 600_000_000;

	private static final int LISTENERS_FIFTHS = 3;

	private final HistoryWriter history;

	private final Origin origin;

	private final LockCall call;

	private long token;

	private boolean tokenChanged;

	private long heldPosition = -1;

	private long heldSince;

	private long asked;

	private long deadline;

	AttemptLog(HistoryWriter history, Origin origin, LockCall call) {
		this.history = history;
		this.origin = origin;
		this.call = call;
	}

	Origin origin() {
		return this.origin;
	}

	/**
	 * It happens now.
	 * @param event what
	 */
	void now(Event event) {
		write(event, 0, 0, 0);
	}

	void invoke() {
		write(Event.INVOKE, 0, this.call.waitTime().toNanos(), this.call.lease().toNanos());
		if (this.call.async()) {
			now(Event.ASYNC);
		}
		if (this.call.places() > 1) {
			write(Event.PLACES, 0, this.call.places(), 0);
		}
	}

	/**
	 * The call turns the lock of another attempt into a shared one.
	 * @param number the number of the other attempt
	 */
	void invokeDowngrade(long number) {
		invoke();
		write(Event.DOWNGRADE, 0, number, 0);
	}

	/**
	 * The call returned with a lock. The end of the lease tells its beginning.
	 * @param holding the lock
	 */
	void granted(Holding holding) {
		this.token = holding.token();
		this.history.append(HistoryRecord.of(System.nanoTime(), this.origin, Event.GRANTED)
			.withToken(this.token)
			.withValidUntil(deadline(System.nanoTime(), holding.remainingNanos()))
			.withRenewed(this.call.renew()));
	}

	private static long deadline(long now, long remaining) {
		return (remaining > 0) ? now + remaining : 0;
	}

	void write(Event event, long token, long value, long other) {
		this.history.append(HistoryRecord.of(System.nanoTime(), this.origin, event)
			.withToken(token)
			.withValue(value)
			.withOther(other)
			.withRenewed(this.call.renew()));
	}

	/**
	 * Whether to leave it to the listener to find out that the lock is lost: its deadline
	 * is near, or was a moment ago.
	 * @return whether not to ask now
	 */
	boolean isListenersTurn() {
		long over = System.nanoTime() - this.deadline;
		return this.deadline != 0 && over > -BEFORE_DEADLINE && over < listenersTurn();
	}

	private long listenersTurn() {
		return Math.min(LISTENERS_TURN, this.call.lease().toNanos() / 5 * LISTENERS_FIFTHS);
	}

	/**
	 * Whether the deadline that was seen last was that of the loss: a renewal since then
	 * would have moved it to a later time than now, and no question was asked in between.
	 */
	private boolean isOverSinceDeadline(long now) {
		return this.deadline != 0 && now - this.deadline >= listenersTurn()
				&& now - this.asked < this.call.lease().toNanos() / 5 * 4;
	}

	/**
	 * Ask whether the lock is held, and write the answer down. The deadline counts from
	 * the begin of the check, because the process may be stopped in it.
	 * @param holding the lock
	 * @return whether it is held
	 */
	boolean check(Holding holding) {
		long begin = System.nanoTime();
		long remaining = holding.remainingNanos();
		boolean valid = holding.isValid();
		long end = System.nanoTime();
		if (holding.isContradicted(valid)) {
			now(Event.CONTRADICTED);
		}
		long token = holding.token();
		if (token != this.token && !this.tokenChanged) {
			this.tokenChanged = true;
			write(Event.NESTED, token, 0, 0);
		}
		if (!valid) {
			this.history.append(HistoryRecord.of(end, this.origin, Event.FOUND_LOST)
				.withValidUntil(isOverSinceDeadline(end) ? this.deadline : 0)
				.withOther(begin)
				.withRenewed(this.call.renew()));
			return false;
		}
		this.asked = begin;
		this.deadline = deadline(begin, remaining);
		boolean first = this.heldPosition < 0;
		if (first) {
			this.heldSince = end;
		}
		HistoryRecord held = HistoryRecord.of(this.heldSince, this.origin, Event.HELD)
			.withToken(token)
			.withValidUntil(this.deadline)
			.withOther(begin)
			.withRenewed(this.call.renew());
		if (first) {
			this.heldPosition = this.history.append(held);
		}
		else {
			this.history.update(this.heldPosition, held);
		}
		return true;
	}

}
