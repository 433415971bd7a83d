package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoredLock;
import io.dlock.store.jdbc.JdbcRenewal.Answers;
import io.dlock.store.jdbc.JdbcRenewal.Due;

/**
 * The SQL of one kind of database. Each decision is one auto-commit statement that reads
 * the database's clock when it has the row, and binds no time of this machine.
 */
abstract sealed class JdbcLockDialect permits PostgreSqlLockDialect, MySqlLockDialect, H2LockDialect {

	private final String renew;

	private final String release;

	private final String find;

	private final String sweep;

	/**
	 * Create a dialect.
	 * @param statements the SQL of the operations that are alike in all dialects but for
	 * the expressions
	 */
	JdbcLockDialect(Statements statements) {
		this.renew = statements.renew();
		this.release = statements.release();
		this.find = statements.find();
		this.sweep = statements.sweep();
	}

	/**
	 * Choose the dialect by what the database says it is.
	 * @param metaData the database
	 * @param table the lock table, a validated identifier
	 * @return the dialect
	 * @throws SQLException if the database does not answer
	 */
	static JdbcLockDialect of(DatabaseMetaData metaData, String table) throws SQLException {
		String product = metaData.getDatabaseProductName();
		return switch (product) {
			case "PostgreSQL" -> new PostgreSqlLockDialect(table);
			case "MySQL", "MariaDB" -> new MySqlLockDialect(table);
			case "H2" -> new H2LockDialect(table);
			default -> throw new StoreMisconfiguredException("dlock does not know the database '" + product + "'.",
					"Use PostgreSQL, MySQL, MariaDB or H2 for the locks, or Redis.", null);
		};
	}

	/**
	 * The statement that prepares a connection of the store's own pool.
	 * @param commandTimeout how long a statement may take
	 * @return the SQL
	 */
	abstract String sessionSetup(Duration commandTimeout);

	/**
	 * The server gives up a little before the client: its answer says that nothing
	 * happened, while a client that gives up knows nothing.
	 */
	static Duration serverLimit(Duration commandTimeout) {
		Duration limit = commandTimeout.multipliedBy(4).dividedBy(5);
		return (limit.toMillis() > 0) ? limit : Duration.ofMillis(1);
	}

	/**
	 * Take a key if it is free.
	 * @param connection an auto-commit connection
	 * @param command what to take
	 * @return the database's answer
	 * @throws SQLException if there is none
	 */
	abstract AcquireResult acquire(Connection connection, AcquireCommand command) throws SQLException;

	/**
	 * Check what the lock relies on beyond the columns of the table.
	 * @param connection an auto-commit connection
	 * @throws SQLException if the database does not answer
	 */
	void verify(Connection connection) throws SQLException {
	}

	/**
	 * How many leases one call renews at the most.
	 * @return the number
	 */
	abstract int renewalsAtOnce();

	/**
	 * Renew leases, in their order, without a wait for rows that others have locked if
	 * the database can tell; such leases get no answer.
	 * @param connection an auto-commit connection
	 * @param due the leases, each of them once
	 * @param answers takes the answers
	 * @throws SQLException if there are none
	 */
	abstract void renew(Connection connection, List<Due> due, Answers answers) throws SQLException;

	/**
	 * Renew a lease, after a wait if need be.
	 * @param connection an auto-commit connection
	 * @param lease the lease
	 * @return whether the owner holds the key
	 * @throws SQLException if the database does not answer
	 */
	boolean renew(Connection connection, Due lease) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.renew)) {
			statement.setLong(1, lease.micros());
			statement.setString(2, lease.key());
			statement.setString(3, lease.owner());
			return statement.executeUpdate() == 1;
		}
	}

	final boolean release(Connection connection, String key, String owner) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.release)) {
			statement.setString(1, StorageKey.of(key));
			statement.setString(2, owner);
			return statement.executeUpdate() == 1;
		}
	}

	final Optional<StoredLock> find(Connection connection, String key) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.find)) {
			statement.setString(1, StorageKey.of(key));
			try (ResultSet row = statement.executeQuery()) {
				if (!row.next()) {
					return Optional.empty();
				}
				return Optional.of(new StoredLock(StorageKey.of(key), row.getString("holder"), row.getString("reason"),
						instant(row.getLong("since_micros")), instant(row.getLong("until_micros")),
						row.getLong("token")));
			}
		}
	}

	/**
	 * Remove rows that have been free for the retention.
	 * @param connection an auto-commit connection
	 * @param retention how long to keep them
	 * @return whether there may be more
	 * @throws SQLException if the database does not answer
	 */
	final boolean sweep(Connection connection, Duration retention) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.sweep)) {
			statement.setLong(1, micros(retention));
			return statement.executeUpdate() >= Statements.SWEEP_BATCH;
		}
	}

	/**
	 * Bind the first five parameters of an acquire: key, owner, lease, holder, reason.
	 */
	static void bind(PreparedStatement statement, String key, AcquireCommand command) throws SQLException {
		statement.setString(1, key);
		statement.setString(2, command.owner());
		statement.setLong(3, micros(command.lease()));
		statement.setString(4, command.holder());
		statement.setString(5, command.reason());
	}

	static AcquireResult.Refused refused(long remainingMicros, @Nullable String holder) {
		return new AcquireResult.Refused(Duration.of(Math.max(0, remainingMicros), ChronoUnit.MICROS), holder);
	}

	static long micros(Duration duration) {
		return (duration.toNanos() + 999) / 1000;
	}

	private static Instant instant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

	/**
	 * The statements with one shape in all dialects.
	 *
	 * @param renew binds lease µs, key, owner
	 * @param release binds key, owner
	 * @param find binds key; answers holder, reason, token, since_micros, until_micros
	 * @param sweep binds retention µs
	 */
	record Statements(String renew, String release, String find, String sweep) {

		static final int SWEEP_BATCH = 1000;

	}

}
