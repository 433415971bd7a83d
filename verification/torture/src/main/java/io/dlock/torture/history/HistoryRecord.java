package io.dlock.torture.history;

/**
 * Something that happened. All times are those of the machine's monotonic clock, which
 * all processes share.
 *
 * @param nanos when
 * @param client the number of the client
 * @param thread the number of its thread
 * @param attempt the call to acquire it belongs to, counted by the client
 * @param key the number of the key
 * @param token the fencing token, 0 if there is none
 * @param validUntil until when the lock is held for certain
 * @param value depends on the event
 * @param other depends on the event
 * @param renewed whether the lease is renewed
 * @param event what
 */
public record HistoryRecord(long nanos, int client, int thread, long attempt, int key, long token, long validUntil,
		long value, long other, boolean renewed, Event event) {

	/** The bytes of a record. */
	static final int SIZE = 64;

	/**
	 * A record of a call to acquire.
	 * @param nanos when
	 * @param origin whose
	 * @param event what
	 * @return the record
	 */
	public static HistoryRecord of(long nanos, Origin origin, Event event) {
		return new HistoryRecord(nanos, origin.client(), origin.thread(), origin.attempt(), origin.key(), 0, 0, 0, 0,
				false, event);
	}

	public HistoryRecord withToken(long newToken) {
		return new HistoryRecord(this.nanos, this.client, this.thread, this.attempt, this.key, newToken,
				this.validUntil, this.value, this.other, this.renewed, this.event);
	}

	public HistoryRecord withValidUntil(long newValidUntil) {
		return new HistoryRecord(this.nanos, this.client, this.thread, this.attempt, this.key, this.token,
				newValidUntil, this.value, this.other, this.renewed, this.event);
	}

	public HistoryRecord withValue(long newValue) {
		return new HistoryRecord(this.nanos, this.client, this.thread, this.attempt, this.key, this.token,
				this.validUntil, newValue, this.other, this.renewed, this.event);
	}

	public HistoryRecord withOther(long newOther) {
		return new HistoryRecord(this.nanos, this.client, this.thread, this.attempt, this.key, this.token,
				this.validUntil, this.value, newOther, this.renewed, this.event);
	}

	public HistoryRecord withRenewed(boolean newRenewed) {
		return new HistoryRecord(this.nanos, this.client, this.thread, this.attempt, this.key, this.token,
				this.validUntil, this.value, this.other, newRenewed, this.event);
	}

	/**
	 * The origin of a record.
	 *
	 * @param client the number of the client
	 * @param thread the number of its thread
	 * @param attempt the call to acquire
	 * @param key the number of the key
	 */
	public record Origin(int client, int thread, long attempt, int key) {

	}

}
