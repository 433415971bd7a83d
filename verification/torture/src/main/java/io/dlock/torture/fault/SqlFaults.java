package io.dlock.torture.fault;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

import io.dlock.torture.server.PostgresPair;
import io.dlock.torture.server.SqlStore;

/**
 * Faults that an administrator, or another application, inflicts on a database.
 */
final class SqlFaults {

	private static final Duration AGAIN = Duration.ofMillis(200);

	private final Dialect dialect;

	private SqlFaults(Dialect dialect) {
		this.dialect = dialect;
	}

	static SqlFaults postgres() {
		return new SqlFaults(
				new Dialect("ALTER ROLE torture CONNECTION LIMIT 1", "ALTER ROLE torture CONNECTION LIMIT -1",
						List.of("BEGIN", "LOCK TABLE dlock_lock IN ACCESS EXCLUSIVE MODE"), List.of("ROLLBACK"),
						"ALTER ROLE torture SET default_transaction_read_only = on",
						"ALTER ROLE torture RESET default_transaction_read_only",
						List.of("ALTER ROLE torture SET default_transaction_isolation = 'repeatable read'",
								"ALTER ROLE torture SET default_transaction_isolation = 'serializable'"),
						"ALTER ROLE torture RESET default_transaction_isolation"));
	}

	static SqlFaults mariaDb() {
		return new SqlFaults(new Dialect("ALTER USER torture WITH MAX_USER_CONNECTIONS 1",
				"ALTER USER torture WITH MAX_USER_CONNECTIONS 0", List.of("LOCK TABLES dlock_lock WRITE"),
				List.of("UNLOCK TABLES"), "SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0",
				List.of("SET GLOBAL tx_isolation = 'REPEATABLE-READ'", "SET GLOBAL tx_isolation = 'SERIALIZABLE'"),
				"SET GLOBAL tx_isolation = 'REPEATABLE-READ'"));
	}

	List<FaultType> safe(Duration lease) {
		Range some = Range.times(lease, 0.3, 1.5);
		return List.of(FaultType.safe("F7", "table-locked", Scope.STORE, this::lockTable).lasting(some),
				FaultType.safe("F8", "max-connections", Scope.STORE, this::limitConnections).lasting(some),
				FaultType.safe("F13", "kill-connections", Scope.STORE, this::killConnections).lasting(some),
				FaultType.safe("F24", "read-only", Scope.STORE, this::readOnly).lasting(some),
				FaultType.safe("F25", "isolation", Scope.STORE, this::isolation)
					.lasting(Range.times(lease, 2, 5))
					.amounting(Range.of(0, this.dialect.isolations().size() - 1)),
				FaultType.safe("F25", "rows-locked", Scope.STORE, this::lockRows).lasting(Range.times(lease, 1, 2)));
	}

	/**
	 * With a row goes its token, so that only the clock keeps tokens rising.
	 */
	List<FaultType> losing() {
		return List.of(FaultType.losing("F14", "delete-rows", Scope.STORE,
				(fault) -> fault.sql().execute("DELETE FROM dlock_lock")));
	}

	/**
	 * Only PostgreSQL has a standby here.
	 */
	static FaultType promotion(Duration lease) {
		return FaultType.losing("F24", "promote-standby", Scope.STORE, SqlFaults::promoteStandby)
			.lasting(Range.times(lease, 0.2, 0.8));
	}

	private static void promoteStandby(Infliction fault) throws SQLException, InterruptedException {
		SqlStore store = fault.sql();
		PostgresPair pair = store.pair().orElseThrow();
		pair.cutReplication();
		fault.hold();
		store.nodes().get(0).kill();
		pair.promote();
		int port = store.nodes().get(0).port();
		fault.bed().links().forEach((link) -> {
			link.redirect("127.0.0.1", port);
			link.cutAll();
		});
		pair.follow();
	}

	private void lockTable(Infliction fault) throws SQLException, InterruptedException {
		try (Connection connection = fault.sql().open(); Statement statement = connection.createStatement()) {
			for (String sql : this.dialect.lockTable()) {
				statement.execute(sql);
			}
			fault.hold();
			for (String sql : this.dialect.unlockTable()) {
				statement.execute(sql);
			}
		}
	}

	private void limitConnections(Infliction fault) throws SQLException, InterruptedException {
		fault.sql().execute(this.dialect.limit());
		try {
			fault.sql().killClientConnections();
			fault.hold();
		}
		finally {
			fault.sql().execute(this.dialect.noLimit());
		}
	}

	private void killConnections(Infliction fault) throws SQLException, InterruptedException {
		do {
			fault.sql().killClientConnections();
		}
		while (fault.pause(AGAIN));
	}

	private void readOnly(Infliction fault) throws SQLException, InterruptedException {
		fault.sql().execute(this.dialect.readOnly());
		try {
			fault.sql().killClientConnections();
			fault.hold();
		}
		finally {
			fault.sql().execute(this.dialect.writable());
			fault.sql().killClientConnections();
		}
	}

	private void isolation(Infliction fault) throws SQLException, InterruptedException {
		fault.sql().execute(this.dialect.isolations().get((int) fault.amount()));
		try {
			fault.sql().killClientConnections();
			fault.hold();
		}
		finally {
			fault.sql().execute(this.dialect.usualIsolation());
			fault.sql().killClientConnections();
		}
	}

	/**
	 * Again and again, another application locks half of the rows for a moment.
	 */
	private void lockRows(Infliction fault) throws SQLException, InterruptedException {
		try (Connection connection = fault.sql().open(); Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			do {
				statement.execute("SELECT * FROM dlock_lock WHERE token % 2 = 0 FOR UPDATE");
				fault.pause(AGAIN);
				connection.rollback();
			}
			while (fault.pause(AGAIN.dividedBy(4)));
		}
	}

	private record Dialect(String limit, String noLimit, List<String> lockTable, List<String> unlockTable,
			String readOnly, String writable, List<String> isolations, String usualIsolation) {

	}

}
