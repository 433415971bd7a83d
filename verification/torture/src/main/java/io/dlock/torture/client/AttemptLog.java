package io.dlock.torture.client;

import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.history.HistoryRecord.Origin;
import io.dlock.torture.history.HistoryWriter;

/**
 * Writes down what happens to one call to acquire and to its lock.
 */
final class AttemptLog {

	private final HistoryWriter history;

	private final Origin origin;

	private final LockCall call;

	private long heldPosition = -1;

	private long heldSince;

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
	}

	void granted(Holding holding) {
		write(Event.GRANTED, holding.token(), 0, 0);
	}

	void write(Event event, long token, long value, long other) {
		this.history.append(HistoryRecord.of(System.nanoTime(), this.origin, event)
			.withToken(token)
			.withValue(value)
			.withOther(other)
			.withRenewed(this.call.renew()));
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
		if (!valid) {
			write(Event.FOUND_LOST, 0, 0, begin);
			return false;
		}
		boolean first = this.heldPosition < 0;
		if (first) {
			this.heldSince = end;
		}
		HistoryRecord held = HistoryRecord.of(this.heldSince, this.origin, Event.HELD)
			.withToken(holding.token())
			.withValidUntil((remaining > 0) ? begin + remaining : 0)
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
