package io.dlock.store.jdbc;

import java.time.Duration;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.dlock.store.Quarantine;

/**
 * The settings of a {@link JdbcLockStore}. Create them with {@link #defaults()} and the
 * {@code with} methods: later versions may add components.
 *
 * @param table the lock table, with or without its schema: letters, digits and
 * underscores
 * @param commandTimeout how long a statement may take
 * @param poolSize the largest number of connections that the store opens for itself, one
 * of which is reserved for renewals; zero to use the given {@code DataSource} as it is. A
 * session that does not answer is ended, and counts until the database confirms its end.
 * One more session ends such sessions. If it is not answered either, it is replaced after
 * pauses that grow fourfold
 * @param retention how long the row of a free lock is kept, with its last token
 * @param wakeUp how waiting processes learn of a released lock; {@code null} for
 * notifications where there are some, and polls elsewhere
 * @param synchronousCommit what a commit waits for on PostgreSQL; anything but the
 * default needs a pool of the store's own
 * @param quarantine how long no lock is granted after a promotion or a restart of
 * PostgreSQL, or {@code null} to grant locks at once. Other databases are refused with it
 * @since 0.1
 */
public record JdbcLockStoreSettings(String table, Duration commandTimeout, int poolSize, Duration retention,
		@Nullable WakeUp wakeUp, SynchronousCommit synchronousCommit, @Nullable Quarantine quarantine) {

	private static final Pattern TABLE = Pattern
		.compile("[A-Za-z_][A-Za-z0-9_]{0,62}(\\.[A-Za-z_][A-Za-z0-9_]{0,62})?");

	private static final Duration MAX_RETENTION = Duration.ofDays(36_500);

	public JdbcLockStoreSettings {
		if (!TABLE.matcher(table).matches()) {
			throw new IllegalArgumentException("'table' must be a name of up to 63 letters, digits or underscores, "
					+ "optionally after a schema and a dot, but is '" + table + "'");
		}
		if (commandTimeout.toMillis() < 1) {
			throw new IllegalArgumentException("'commandTimeout' must be at least 1 ms but is " + commandTimeout);
		}
		if (poolSize < 0 || poolSize == 1 || poolSize > 64) {
			throw new IllegalArgumentException(
					"'poolSize' must be 2 to 64, one of them for renewals, or 0 for no pool of its own, but is "
							+ poolSize);
		}
		if (retention.compareTo(Duration.ofMinutes(1)) < 0 || retention.compareTo(MAX_RETENTION) > 0) {
			throw new IllegalArgumentException(
					"'retention' must be at least one minute and at most 100 years but is " + retention);
		}
	}

	/**
	 * The defaults: table {@code dlock_lock}, a command timeout of one second, up to 17
	 * connections, a retention of one day, no quarantine.
	 * @return the defaults
	 */
	public static JdbcLockStoreSettings defaults() {
		return new JdbcLockStoreSettings("dlock_lock", Duration.ofSeconds(1), 17, Duration.ofDays(1), null,
				SynchronousCommit.DEFAULT, null);
	}

	/**
	 * Change the table.
	 * @param table the new table
	 * @return the changed settings
	 */
	public JdbcLockStoreSettings withTable(String table) {
		return new JdbcLockStoreSettings(table, this.commandTimeout, this.poolSize, this.retention, this.wakeUp,
				this.synchronousCommit, this.quarantine);
	}

	/**
	 * Change the command timeout.
	 * @param commandTimeout the new timeout
	 * @return the changed settings
	 */
	public JdbcLockStoreSettings withCommandTimeout(Duration commandTimeout) {
		return new JdbcLockStoreSettings(this.table, commandTimeout, this.poolSize, this.retention, this.wakeUp,
				this.synchronousCommit, this.quarantine);
	}

	/**
	 * Change the size of the store's own pool.
	 * @param poolSize the new size, zero for no pool of its own
	 * @return the changed settings
	 */
	public JdbcLockStoreSettings withPoolSize(int poolSize) {
		return new JdbcLockStoreSettings(this.table, this.commandTimeout, poolSize, this.retention, this.wakeUp,
				this.synchronousCommit, this.quarantine);
	}

	/**
	 * Change how long free rows are kept.
	 * @param retention the new retention
	 * @return the changed settings
	 */
	public JdbcLockStoreSettings withRetention(Duration retention) {
		return new JdbcLockStoreSettings(this.table, this.commandTimeout, this.poolSize, retention, this.wakeUp,
				this.synchronousCommit, this.quarantine);
	}

	/**
	 * Change how waiting processes learn of a released lock.
	 * @param wakeUp the new way, the same for all processes; {@code null} for the default
	 * @return the changed settings
	 */
	public JdbcLockStoreSettings withWakeUp(@Nullable WakeUp wakeUp) {
		return new JdbcLockStoreSettings(this.table, this.commandTimeout, this.poolSize, this.retention, wakeUp,
				this.synchronousCommit, this.quarantine);
	}

	/**
	 * Change what a commit waits for on PostgreSQL.
	 * @param synchronousCommit the new setting
	 * @return the changed settings
	 */
	public JdbcLockStoreSettings withSynchronousCommit(SynchronousCommit synchronousCommit) {
		return new JdbcLockStoreSettings(this.table, this.commandTimeout, this.poolSize, this.retention, this.wakeUp,
				synchronousCommit, this.quarantine);
	}

	/**
	 * Change the quarantine.
	 * @param quarantine the new quarantine, or {@code null} for none
	 * @return the changed settings
	 */
	public JdbcLockStoreSettings withQuarantine(@Nullable Quarantine quarantine) {
		return new JdbcLockStoreSettings(this.table, this.commandTimeout, this.poolSize, this.retention, this.wakeUp,
				this.synchronousCommit, quarantine);
	}

}
