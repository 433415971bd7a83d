package io.dlock.torture.fault;

import java.time.Duration;

import io.dlock.torture.server.RedisAdmin;
import io.dlock.torture.server.SqlStore;

/**
 * F33: the password of the clients is changed, first in the store and then in the
 * applications, and their connections end, so that all log in anew. In the end everything
 * is as it was before, for clients that start later.
 */
final class Credentials {

	static final String NAME = "credentials";

	private final Change change;

	private final FaultType.Action disconnect;

	private Credentials(Change change, FaultType.Action disconnect) {
		this.change = change;
		this.disconnect = disconnect;
	}

	static FaultType postgres(Duration lease) {
		return sql(lease, "ALTER ROLE torture PASSWORD '%s'");
	}

	static FaultType mariaDb(Duration lease) {
		return sql(lease, "ALTER USER torture IDENTIFIED BY '%s'");
	}

	private static FaultType sql(Duration lease, String statement) {
		return type(lease, new Credentials((fault, password) -> fault.sql().execute(statement.formatted(password)),
				(fault) -> fault.sql().killClientConnections()));
	}

	static FaultType redis(Duration lease) {
		return type(lease, new Credentials(
				(fault, password) -> onEachNode(fault, "ACL", "SETUSER", "torture", "resetpass", ">" + password),
				(fault) -> onEachNode(fault, "CLIENT", "KILL", "USER", "torture")));
	}

	private static FaultType type(Duration lease, Credentials credentials) {
		return FaultType.safe("F33", "credentials-rotated", Scope.STORE_AND_NOTHING_ELSE, credentials::inflict)
			.lasting(Range.times(lease, 1.5, 3))
			.amounting(Range.of(1, 1_000_000));
	}

	private static void onEachNode(Infliction fault, String... command) throws Exception {
		for (RedisAdmin admin : fault.admins()) {
			admin.call(command);
		}
	}

	private void inflict(Infliction fault) throws Exception {
		try {
			rotate(fault, SqlStore.USER + "-" + fault.amount(), fault.amount());
			fault.restored();
			fault.hold();
		}
		finally {
			rotate(fault, SqlStore.USER, 0);
		}
	}

	private void rotate(Infliction fault, String password, long number) throws Exception {
		this.change.inflict(fault, password);
		fault.tellAll(NAME, number);
		this.disconnect.inflict(fault);
	}

	/**
	 * Changes the password of the clients in the store.
	 */
	@FunctionalInterface
	private interface Change {

		void inflict(Infliction fault, String password) throws Exception;

	}

}
