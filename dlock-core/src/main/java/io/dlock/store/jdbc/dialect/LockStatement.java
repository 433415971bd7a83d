package io.dlock.store.jdbc.dialect;

/**
 * The statements that every dialect has. A lock that was released has no owner, which
 * makes it free even if the clock of the server is set back behind its release.
 */
enum LockStatement {

	/**
	 * Takes a key. The dialects bind and read it differently.
	 */
	ACQUIRE,

	/**
	 * Binds a text and key; answers remaining µs, owner, holder, token, the length of the
	 * queue, and the position of the text in it, or 0.
	 */
	HOLDER,

	/**
	 * Binds lease µs, key, owner.
	 */
	RENEW,

	/**
	 * Binds key, owner.
	 */
	RELEASE,

	/**
	 * Reserves a lock whose lease is over for the first process of its queue. Binds key.
	 */
	PASS_EXPIRED,

	/**
	 * As {@link #RELEASE}, whatever the owner. Binds key, token.
	 */
	FORCE_RELEASE,

	/**
	 * Keeps a lock that is released. A {@code ~} instead of the first character of the
	 * owner says that it has no holder any more. Binds rest µs, key, owner.
	 */
	KEEP,

	/**
	 * Appends to a lock that is held, unless its queue is full or has the entry. Binds
	 * entry, key, entry.
	 */
	QUEUE,

	/**
	 * Removes both entries of a process unless members hold the lock. Binds exclusive
	 * entry, entry of a member, key.
	 */
	LEAVE,

	/**
	 * Answers key, holder, reason, token, since_micros, until_micros, age_micros, owner
	 * of all locks that are taken. A limit can be appended.
	 */
	LIST,

	/**
	 * As {@link #LIST} for one key. Binds key.
	 */
	FIND,

	/**
	 * Answers the key and the owner of those that are free or reserved. Binds a pattern
	 * of owners, those of the reservations for a process; ends where the keys follow in
	 * parentheses.
	 */
	AVAILABLE,

	/**
	 * As {@link #AVAILABLE}, and the keys with a place that is reserved among members.
	 * Binds the address after the owner of the reservation.
	 */
	AVAILABLE_TO_MEMBER,

	/**
	 * Removes some rows. Binds retention µs.
	 */
	SWEEP,

	/**
	 * Answers one row, which it locks, if the owner holds the key. Binds key, owner.
	 */
	LOCK_ROW,

	/**
	 * Answers one row: now_micros, and, unless there is no such key, owner, until_micros,
	 * token, since_micros, holder, reason, waiting, members, renewals. Binds key.
	 */
	RECORD,

	/**
	 * Replaces a record that has not changed since {@link #RECORD}. Binds owner, until
	 * µs, token, since µs, holder, reason, waiting, members, key, and as they were owner,
	 * until µs, token, waiting, renewals; then as the dialect says.
	 */
	REPLACE,

	/**
	 * Inserts a record unless the key exists. Binds owner, until µs, token, since µs,
	 * holder, reason, waiting, members, key.
	 */
	INSERT,

	/**
	 * Answers now_micros and members of a key that members hold, and locks the row. Binds
	 * key.
	 */
	LOCK_MEMBERS_ROW;

	/** How many rows one {@link #SWEEP} removes at most. */
	static final int SWEEP_BATCH = 1000;

}
