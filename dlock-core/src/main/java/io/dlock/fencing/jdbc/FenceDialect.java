package io.dlock.fencing.jdbc;

import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The statements with which a kind of database raises a fence.
 *
 * @param raise binds the resource and the token, locks the row, raises its token if it is
 * lower, and answers with the token of the row unless there is a second statement for it
 * @param read binds the resource, and answers with the token of the row as it is and not
 * as an old snapshot has it, or {@code null}
 * @param attempts the number of first checks of a resource that may collide without an
 * end of the transaction
 */
record FenceDialect(String raise, @Nullable String read, int attempts) {

	/**
	 * The condition is in an expression and not in a {@code WHERE}: that locks the row
	 * and answers in any case.
	 */
	private static final String POSTGRESQL = """
			INSERT INTO %s AS f (resource, token) VALUES (?, ?)
			ON CONFLICT (resource) DO UPDATE SET token = GREATEST(f.token, EXCLUDED.token)
			RETURNING token
			""";

	private static final String MYSQL = """
			INSERT INTO %s (resource, token) VALUES (?, ?)
			ON DUPLICATE KEY UPDATE token = GREATEST(token, VALUES(token))
			""";

	private static final String MYSQL_READ = "SELECT token FROM %s WHERE resource = ? FOR UPDATE";

	private static final String H2 = """
			SELECT token FROM FINAL TABLE (
			  MERGE INTO %s f USING (VALUES (CAST(? AS VARCHAR_CASESENSITIVE), CAST(? AS BIGINT))) n (resource, token)
			  ON f.resource = n.resource
			  WHEN MATCHED THEN UPDATE SET token = GREATEST(f.token, n.token)
			  WHEN NOT MATCHED THEN INSERT (resource, token) VALUES (n.resource, n.token))
			""";

	static FenceDialect of(JdbcTemplate jdbc, String table) {
		String product = jdbc
			.execute((ConnectionCallback<String>) (connection) -> connection.getMetaData().getDatabaseProductName());
		return switch (String.valueOf(product)) {
			case "PostgreSQL" -> new FenceDialect(POSTGRESQL.formatted(table), null, 1);
			case "MySQL", "MariaDB" -> new FenceDialect(MYSQL.formatted(table), MYSQL_READ.formatted(table), 1);
			case "H2" -> new FenceDialect(H2.formatted(table), null, 10);
			default -> throw new IllegalStateException("dlock has no fence for the database '" + product
					+ "'. Write the token beside the data, and only if it is not lower: UPDATE … WHERE fence <= :token");
		};
	}

	/**
	 * Raise a fence to a token unless it is higher already.
	 * @param jdbc the database, in a transaction
	 * @param resource the storage key of the resource
	 * @return the token of the fence now
	 */
	long raise(JdbcTemplate jdbc, String resource, long token) {
		for (int attempt = 1;; attempt++) {
			try {
				return tryRaise(jdbc, resource, token);
			}
			catch (DuplicateKeyException ex) {
				if (attempt >= this.attempts) {
					throw ex;
				}
			}
		}
	}

	private long tryRaise(JdbcTemplate jdbc, String resource, long token) {
		if (this.read == null) {
			return Objects.requireNonNull(jdbc.queryForObject(this.raise, Long.class, resource, token));
		}
		jdbc.update(this.raise, resource, token);
		return Objects.requireNonNull(jdbc.queryForObject(this.read, Long.class, resource));
	}

}
