package io.dlock.store.jdbc;

/**
 * The statements with one shape in all dialects. A lock that was released has no owner,
 * which makes it free even if the clock of the server is set back behind its release.
 *
 * @param renew binds lease µs, key, owner
 * @param release binds key, owner
 * @param keep binds rest µs, key, owner
 * @param queue binds entry, key, entry; appends to a lock that is held, unless its queue
 * is full or has the entry
 * @param leave binds entry, key
 * @param held answers key, holder, reason, token, since_micros, until_micros, age_micros,
 * kept of all locks that are taken, and can be limited further
 * @param look binds the owner of a reservation, and the keys in place of {@link #KEYS}
 * @param sweep binds retention µs
 * @param hold binds key, owner; answers one row, which it locks, if the owner holds the
 * key
 */
record Statements(String renew, String release, String keep, String queue, String leave, String held, String look,
		String sweep, String hold) {

	private static final String WHERE = " WHERE ";

	/** Stands for the keys of a query. */
	static final String KEYS = "<keys>";

	/** How many rows one sweep removes at the most. */
	static final int SWEEP_BATCH = 1000;

	/** Characters of {@code waiting} to which no entry is appended any more. */
	static final int FULL_QUEUE = 4000;

	/**
	 * Keeps a lock that is released. A {@code ~} instead of the first character of the
	 * owner says that it has no holder any more.
	 * @param table the lock table
	 * @param end the expression of the end, which binds the rest
	 * @param now the expression of the time
	 * @return the SQL of {@link #keep}
	 */
	static String keeping(String table, String end, String now) {
		return """
				UPDATE %s SET lease_until = %s, owner = CONCAT('~', SUBSTR(owner, 2))
				WHERE lock_key = ? AND owner = ? AND lease_until > %s
				""".formatted(table, end, now);
	}

	/**
	 * Finds a lock that is held.
	 * @return the SQL; binds key
	 */
	String find() {
		return this.held + " AND lock_key = ?";
	}

	/**
	 * As {@link #release}, whoever the owner is.
	 * @return the SQL; binds key, token
	 */
	String forceRelease() {
		String condition = this.held.substring(this.held.indexOf(WHERE) + WHERE.length()).strip();
		return this.release.replace("owner = ?", "token = ? AND " + condition);
	}

}
