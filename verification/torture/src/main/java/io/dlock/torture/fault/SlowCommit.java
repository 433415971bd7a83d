package io.dlock.torture.fault;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

import io.dlock.torture.server.SqlStore;

/**
 * F32: each commit waits for a replica that is away, until the fault is over. The
 * application beside the locks must be able to connect all the time, and the number of
 * the clients' sessions must not grow without limit: a session that was given up still is
 * one.
 */
final class SlowCommit {

	/**
	 * The sessions that a client may have: the pools of the application and of the locks,
	 * two that listen or ask, and some that were given up and are being ended.
	 */
	static final int SESSIONS_OF_CLIENT = 4 + 17 + 2 + 8;

	private static final Duration INTERVAL = Duration.ofMillis(100);

	private final String limit;

	private final String noLimit;

	private final List<String> begin;

	private final List<String> end;

	private SlowCommit(String limit, String noLimit, List<String> begin, List<String> end) {
		this.limit = limit;
		this.noLimit = noLimit;
		this.begin = begin;
		this.end = end;
	}

	/**
	 * Commits are on disk, but wait for a synchronous standby.
	 */
	static FaultType postgres(Duration lease) {
		return type(lease,
				new SlowCommit("ALTER ROLE torture CONNECTION LIMIT %d", "ALTER ROLE torture CONNECTION LIMIT -1",
						List.of("ALTER SYSTEM SET synchronous_standby_names = 'away'", "SELECT pg_reload_conf()"),
						List.of("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")));
	}

	/**
	 * Commits are on disk, but wait for a replica that has received them
	 * (semi-synchronous replication).
	 */
	static FaultType mariaDb(Duration lease) {
		return type(lease,
				new SlowCommit("ALTER USER torture WITH MAX_USER_CONNECTIONS %d",
						"ALTER USER torture WITH MAX_USER_CONNECTIONS 0",
						List.of("SET GLOBAL rpl_semi_sync_master_enabled = 1"),
						List.of("SET GLOBAL rpl_semi_sync_master_enabled = 0")));
	}

	private static FaultType type(Duration lease, SlowCommit slow) {
		return FaultType.safe("F32", "slow-commit", Scope.STORE_AND_NOTHING_ELSE, slow::inflict)
			.lasting(Range.times(lease, 8, 12));
	}

	/**
	 * The limit is that of an administrator who knows the needs of the application. It is
	 * set before commits wait, because setting it is a commit.
	 */
	private void inflict(Infliction fault) throws SQLException, InterruptedException {
		SqlStore store = fault.sql();
		int allowed = SESSIONS_OF_CLIENT * fault.bed().everyClient().size();
		store.execute(this.limit.formatted(allowed + 1));
		try {
			store.executeAll(this.begin);
			fault.effect("sessions=%d of %d".formatted(watch(fault, store, allowed), allowed));
		}
		finally {
			store.executeAll(this.end);
			store.execute(this.noLimit);
		}
	}

	private static int watch(Infliction fault, SqlStore store, int allowed) throws SQLException, InterruptedException {
		int most = 0;
		do {
			int sessions = store.clientConnections().size();
			if (sessions > Math.max(most, allowed)) {
				fault.disturbedApplication("the clients have %d sessions while commits wait, and may have %d"
					.formatted(sessions, allowed));
			}
			most = Math.max(most, sessions);
			connect(fault, store);
		}
		while (fault.pause(INTERVAL));
		return most;
	}

	private static void connect(Infliction fault, SqlStore store) {
		try (Connection connection = store.openAsClient()) {
			connection.isReadOnly();
		}
		catch (SQLException ex) {
			fault.disturbedApplication("the application cannot connect while commits wait: " + ex.getMessage());
		}
	}

}
