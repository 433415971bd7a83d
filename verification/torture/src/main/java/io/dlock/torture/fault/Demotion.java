package io.dlock.torture.fault;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

import io.dlock.torture.server.SqlStore;

/**
 * F24: the database is demoted and stays where it is: connections are kept and refuse to
 * write. After a while new connections reach a primary, as if they were led to the server
 * that was promoted, but the old ones still do not: locks have to be back for clients
 * that connect again.
 * <p>
 * Both are the same server, so that nothing is lost: with MariaDB the right of a session
 * to write while the server is read-only is decided when it logs in, and with PostgreSQL
 * the setting of the user is taken then, that of the server by all sessions at once.
 */
final class Demotion {

	private final List<String> demote;

	private final List<String> promote;

	private final List<String> restore;

	private Demotion(List<String> demote, List<String> promote, List<String> restore) {
		this.demote = demote;
		this.promote = promote;
		this.restore = restore;
	}

	static FaultType postgres(Duration lease) {
		String writable = "SET default_transaction_read_only = off";
		return type(lease,
				new Demotion(List.of("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()"),
						List.of(writable, "ALTER ROLE torture SET default_transaction_read_only = off"),
						List.of(writable, "ALTER SYSTEM RESET default_transaction_read_only",
								"ALTER ROLE torture RESET default_transaction_read_only", "SELECT pg_reload_conf()")));
	}

	static FaultType mariaDb(Duration lease) {
		return type(lease,
				new Demotion(List.of("SET GLOBAL read_only = 1"), List.of("GRANT READ ONLY ADMIN ON *.* TO torture"),
						List.of("REVOKE READ ONLY ADMIN ON *.* FROM torture", "SET GLOBAL read_only = 0")));
	}

	private static FaultType type(Duration lease, Demotion demotion) {
		return FaultType.safe("F24", "demoted-in-place", Scope.STORE_AND_NOTHING_ELSE, demotion::inflict)
			.lasting(Range.times(lease, 2.5, 4))
			.amounting(Range.times(lease, 0.3, 1));
	}

	/**
	 * Sessions that were opened meanwhile can do more than the others: they end with it.
	 */
	private void inflict(Infliction fault) throws SQLException, InterruptedException {
		SqlStore store = fault.sql();
		store.executeAll(this.demote);
		try {
			fault.pause(fault.amountMillis());
			store.executeAll(this.promote);
			fault.restored();
			fault.hold();
		}
		finally {
			store.executeAll(this.restore);
			store.killClientConnections();
		}
	}

}
