package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.WaitingQueue;
import io.dlock.store.jdbc.dialect.LeaseUpdate.Holding;

/**
 * H2, for development and tests. Two first-ever acquires of a key may collide on the
 * primary key, which is retried.
 */
final class H2LockDialect extends LockDialect {

	private static final String KEY_COLUMN = """
			SELECT DATA_TYPE, COLLATION_NAME, TABLE_NAME, COUNT(*) OVER () FROM INFORMATION_SCHEMA.COLUMNS
			WHERE LOWER(TABLE_SCHEMA) = LOWER(COALESCE(?, SCHEMA())) AND LOWER(TABLE_NAME) = LOWER(?)
			  AND LOWER(COLUMN_NAME) = 'lock_key'
			""";

	private final String table;

	H2LockDialect(String table) {
		super((statement) -> H2LockSql.of(statement, table));
		this.table = table;
	}

	@Override
	String addMembers() {
		return "ALTER TABLE " + this.table + " ADD COLUMN members VARCHAR_CASESENSITIVE DEFAULT '' NOT NULL";
	}

	@Override
	String widenQueue() {
		return "ALTER COLUMN waiting SET DATA TYPE VARCHAR_CASESENSITIVE(" + WaitingQueue.FULL + ")";
	}

	@Override
	public String sessionSetup(Duration commandTimeout) {
		long millis = serverLimit(commandTimeout).toMillis();
		return "SET LOCK_TIMEOUT %s; SET QUERY_TIMEOUT %s".formatted(millis, millis);
	}

	@Override
	AcquireAttempt attempt(Connection connection, AcquireCommand command) throws SQLException {
		String key = StorageKey.of(command.key());
		try (PreparedStatement statement = prepare(connection, LockStatement.ACQUIRE)) {
			LockSqlParameters.bind(statement, key, command, false);
			statement.setString(6, LockSqlParameters.entry(command.mailbox()));
			statement.setString(7, LockSqlParameters.head(command));
			statement.setString(8, LockSqlParameters.reservation(command));
			statement.setString(9, LockSqlParameters.releasing(command));
			try (ResultSet row = statement.executeQuery()) {
				if (row.next()) {
					return new AcquireAttempt.Granted(row.getLong(1));
				}
			}
		}
		return refused(connection, key, command);
	}

	/**
	 * A timeout would stay on the caller's connection; H2 waits two seconds for a row by
	 * default.
	 */
	@Override
	void limitTime(PreparedStatement statement, Duration timeout) {
	}

	/**
	 * In this process a statement is no round trip.
	 */
	@Override
	public int renewalsAtOnce() {
		return 1;
	}

	@Override
	public StoreFacts facts(Connection connection) throws SQLException {
		return DatabaseFacts.ofH2(connection);
	}

	@Override
	void verify(Connection connection, LockTable table) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery("SELECT 1 WHERE '' IS NULL")) {
			if (row.next()) {
				throw new StoreMisconfiguredException(
						"The lock database is an H2 with MODE=Oracle, in which an empty text is NULL.",
						"Give the locks a DataSource without MODE=Oracle (@DlockDataSource), or use the mode of another database.",
						null);
			}
		}
		DatabaseMetaData metaData = connection.getMetaData();
		table.ask(connection, KEY_COLUMN, (row) -> {
			if (row.getInt(4) > 1 && !row.getString(3).equals(stored(metaData, table.simpleName()))) {
				return;
			}
			boolean ignoresCase = row.getString(1).equals("VARCHAR_IGNORECASE");
			if (ignoresCase || !row.getString(2).equals("OFF")) {
				throw table.wrongCollation("lock_key", row.getString(ignoresCase ? 1 : 2), LockTable.MIXES_KEYS, null);
			}
		});
	}

	private static String stored(DatabaseMetaData metaData, String identifier) throws SQLException {
		if (metaData.storesUpperCaseIdentifiers()) {
			return identifier.toUpperCase(Locale.ROOT);
		}
		return metaData.storesLowerCaseIdentifiers() ? identifier.toLowerCase(Locale.ROOT) : identifier;
	}

	@Override
	public void renew(Connection connection, List<LeaseUpdate> due, BiConsumer<Holding, RenewResult> answers)
			throws SQLException {
		for (LeaseUpdate lease : due) {
			answers.accept(lease.holding(), renew(connection, lease) ? RenewResult.RENEWED : RenewResult.REFUSED);
		}
	}

}
