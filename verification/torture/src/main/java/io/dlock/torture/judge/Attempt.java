package io.dlock.torture.judge;

import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryRecord;

/**
 * A call to acquire and what became of it, put together from its records. Times that are
 * 0 have not come.
 */
final class Attempt {

	private final Client client;

	private final int thread;

	private final long number;

	private final int key;

	private long invoked;

	private long waitLimit;

	private long lease;

	private boolean renewed;

	private boolean async;

	private long places = 1;

	private long downgraded;

	private Event outcome = Event.NONE;

	private long returned;

	private long token;

	private long grantedUntil;

	private boolean tokenChanged;

	private long nested;

	private long nestedTook;

	private long nestedRefused;

	private long contradicted;

	private long heldFrom;

	private long heldUntil;

	private long validUntil;

	private long lost;

	private long foundLost;

	private long overSince;

	private long rejected;

	private long changedUnder;

	private long fencedWrites;

	private long releaseSent;

	private boolean interruptSent;

	private long interrupted;

	private Event release = Event.NONE;

	private long released;

	Attempt(Client client, HistoryRecord first) {
		this.client = client;
		this.thread = first.thread();
		this.number = first.attempt();
		this.key = first.key();
	}

	/**
	 * Take a record in.
	 */
	void add(HistoryRecord entry) {
		switch (entry.event()) {
			case INVOKE -> {
				this.invoked = entry.nanos();
				this.waitLimit = entry.value();
				this.lease = entry.other();
				this.renewed = entry.renewed();
			}
			case ASYNC -> this.async = true;
			case PLACES -> this.places = entry.value();
			case DOWNGRADE -> this.downgraded = entry.value();
			case SHARED_READ ->
				this.changedUnder = (entry.value() != entry.other()) ? entry.nanos() : this.changedUnder;
			case GRANTED -> {
				returned(entry);
				this.token = entry.token();
				this.grantedUntil = entry.validUntil();
			}
			case REFUSED, QUARANTINED, UNKNOWN, INTERRUPTED, CLOSED, FAILED -> returned(entry);
			case HELD -> {
				this.heldFrom = entry.nanos();
				this.heldUntil = entry.other();
				this.validUntil = entry.validUntil();
				this.tokenChanged |= entry.token() != this.token;
			}
			case NESTED -> {
				this.tokenChanged |= entry.token() != this.token;
				nested(entry);
			}
			case NESTED_REFUSED -> {
				this.nestedRefused = entry.nanos();
				nested(entry);
			}
			case CONTRADICTED -> this.contradicted = first(this.contradicted, entry.nanos());
			case LOST -> this.lost = entry.nanos();
			case FOUND_LOST -> {
				this.foundLost = first(this.foundLost, entry.nanos());
				this.overSince = first(this.overSince, entry.validUntil());
			}
			case INTERRUPT -> {
				this.interruptSent = true;
				this.interrupted = (entry.nanos() > this.invoked) ? first(this.interrupted, entry.nanos())
						: this.interrupted;
			}
			case FENCED_WRITE -> this.fencedWrites += 1;
			case FENCED_REJECTED -> this.rejected = first(this.rejected, entry.nanos());
			case RELEASE_SENT -> this.releaseSent = entry.nanos();
			case RELEASED, RELEASED_LOST, RELEASE_FAILED -> {
				this.release = entry.event();
				this.released = entry.nanos();
			}
			default -> {
			}
		}
	}

	private void returned(HistoryRecord entry) {
		this.outcome = entry.event();
		this.returned = entry.nanos();
	}

	private void nested(HistoryRecord entry) {
		this.nested = entry.nanos();
		this.nestedTook = entry.value();
	}

	private static long first(long one, long other) {
		return (one != 0) ? one : other;
	}

	Client client() {
		return this.client;
	}

	int key() {
		return this.key;
	}

	long number() {
		return this.number;
	}

	boolean isPrivate() {
		return Keys.isPrivate(this.key);
	}

	long invoked() {
		return this.invoked;
	}

	long waitLimit() {
		return this.waitLimit;
	}

	long lease() {
		return this.lease;
	}

	boolean isRenewed() {
		return this.renewed;
	}

	/**
	 * Whether the call asked for a future.
	 * @return whether no thread waits for it
	 */
	boolean isAsync() {
		return this.async;
	}

	/**
	 * The number of calls that may hold the key at the same time, this one included.
	 * @return the number, 1 for an exclusive lock
	 */
	long places() {
		return this.places;
	}

	/**
	 * The attempt of the same client whose exclusive lock the call turned into a shared
	 * one.
	 * @return its number, 0 if the call did not do that
	 */
	long downgraded() {
		return this.downgraded;
	}

	boolean isExclusive() {
		return this.places == 1 && !Keys.isLimit(this.key);
	}

	/**
	 * When the holder was still valid and had read a value that another holder changed
	 * meanwhile.
	 * @return the time, 0 if that did not happen
	 */
	long changedUnder() {
		return this.changedUnder;
	}

	Event outcome() {
		return this.outcome;
	}

	boolean isGranted() {
		return this.outcome == Event.GRANTED;
	}

	/**
	 * When the call returned.
	 * @return the time, 0 if it never did
	 */
	long returned() {
		return this.returned;
	}

	long token() {
		return this.token;
	}

	/**
	 * The deadline that it published when the call returned.
	 * @return the time, 0 if it was not valid then
	 */
	long grantedUntil() {
		return this.grantedUntil;
	}

	/**
	 * The earliest time at which the store can have granted it: a lease that the store
	 * grants counts from the request.
	 * @return the time
	 */
	long grantedSince() {
		return (this.grantedUntil != 0) ? Math.max(this.invoked, this.grantedUntil - this.lease) : this.invoked;
	}

	/**
	 * Whether the hold showed another token than the one it was granted with.
	 * @return whether it changed
	 */
	boolean isTokenChanged() {
		return this.tokenChanged;
	}

	/**
	 * The end of the call by which the holder acquired the lock again.
	 * @return the time, 0 if there was none
	 */
	long nested() {
		return this.nested;
	}

	long nestedTook() {
		return this.nestedTook;
	}

	/**
	 * When the holder, which was valid afterwards, was not granted the lock again.
	 * @return the time, 0 if that did not happen
	 */
	long nestedRefused() {
		return this.nestedRefused;
	}

	/**
	 * When the assertion that the lock is held did not say the same as the question.
	 * @return the time, 0 if that did not happen
	 */
	long contradicted() {
		return this.contradicted;
	}

	/**
	 * The end of the first check that found the lock held.
	 * @return the time
	 */
	long heldFrom() {
		return this.heldFrom;
	}

	/**
	 * The begin of the last check that found the lock held.
	 * @return the time
	 */
	long heldUntil() {
		return this.heldUntil;
	}

	/**
	 * The last deadline that the hold has published.
	 * @return the time, 0 if it says nothing
	 */
	long validUntil() {
		return this.validUntil;
	}

	/**
	 * When the listener was told.
	 * @return the time
	 */
	long lost() {
		return this.lost;
	}

	/**
	 * The end of the first check that found the lock lost.
	 * @return the time
	 */
	long foundLost() {
		return this.foundLost;
	}

	/**
	 * The time at which the lease was over, found out without asking for it meanwhile:
	 * only the listener can have been told.
	 * @return the time, 0 if a question was asked
	 */
	long overSince() {
		return this.overSince;
	}

	/**
	 * Whether the client has interrupted the thread.
	 * @return whether the call may have been interrupted
	 */
	boolean isInterruptSent() {
		return this.interruptSent;
	}

	/**
	 * When the client interrupted the thread for the first time during the call.
	 * @return the time, 0 if it did not
	 */
	long interrupted() {
		return this.interrupted;
	}

	/**
	 * When the client had learned that the resource rejects its token.
	 * @return the time
	 */
	long rejected() {
		return this.rejected;
	}

	/**
	 * How many fenced writes the resource has acknowledged.
	 * @return the number
	 */
	long fencedWrites() {
		return this.fencedWrites;
	}

	long releaseSent() {
		return this.releaseSent;
	}

	Event release() {
		return this.release;
	}

	long released() {
		return this.released;
	}

	/**
	 * Whether the holder learned that it had lost the lock.
	 * @return whether it was lost
	 */
	boolean isLost() {
		return this.lost != 0 || this.foundLost != 0 || this.release == Event.RELEASED_LOST;
	}

	/**
	 * Whether the holder had learned that it had lost the lock before it began to release
	 * it.
	 * @return whether the release has to say so, too
	 */
	boolean isLostBeforeRelease() {
		return (this.foundLost != 0 && this.foundLost <= this.releaseSent)
				|| (this.lost != 0 && this.lost < this.releaseSent);
	}

	/**
	 * When the holder learned it at the latest.
	 * @return the time
	 */
	long lossKnown() {
		long known = (this.release == Event.RELEASED_LOST) ? this.released : Long.MAX_VALUE;
		known = (this.lost != 0) ? Math.min(known, this.lost) : known;
		return (this.foundLost != 0) ? Math.min(known, this.foundLost) : known;
	}

	/**
	 * The last that is known of it.
	 * @return the time
	 */
	long end() {
		return Math.max(Math.max(this.invoked, this.returned), Math.max(this.heldUntil, this.released));
	}

	@Override
	public String toString() {
		return this.client + " thread " + this.thread + " attempt " + this.number + " key " + this.key + " token "
				+ this.token;
	}

}
