package io.dlock.store.jdbc;

/**
 * The statements with one shape in all dialects.
 *
 * @param renew binds lease µs, key, owner
 * @param release binds key, owner
 * @param queue binds entry, key, entry; appends to a lock that is held, unless its queue
 * is full or has the entry
 * @param leave binds entry, key
 * @param find binds key; answers holder, reason, token, since_micros, until_micros
 * @param look binds the owner of a reservation, and the keys in place of {@link #KEYS}
 * @param sweep binds retention µs
 * @param hold binds key, owner; answers one row, which it locks, if the owner holds the
 * key
 */
record Statements(String renew, String release, String queue, String leave, String find, String look, String sweep,
		String hold) {

	/** Stands for the keys of a query. */
	static final String KEYS = "<keys>";

	/** How many rows one sweep removes at the most. */
	static final int SWEEP_BATCH = 1000;

	/** Characters of {@code waiting} to which no entry is appended any more. */
	static final int FULL_QUEUE = 4000;

}
