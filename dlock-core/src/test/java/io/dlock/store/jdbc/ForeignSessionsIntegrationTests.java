package io.dlock.store.jdbc;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.store.jdbc.dialect.LockDialect;
import io.dlock.store.jdbc.dialect.LockDialectSelector;
import io.dlock.test.MariaDbServer;
import io.dlock.test.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A session that was given up may belong to another user, after a change of the user
 * name.
 */
class ForeignSessionsIntegrationTests {

	private final String suffix = Long.toHexString(UUID.randomUUID().getMostSignificantBits());

	private final String old = "old_" + this.suffix;

	private final String now = "new_" + this.suffix;

	@Test
	void d1SessionOfAnotherUserIsLeftAndKeepsNoOtherFromItsEndOnMariaDb() throws SQLException {
		MariaDbServer server = MariaDbServer.shared();
		try (Connection admin = DriverManager.getConnection(server.mariaDbUrl(), server.username(),
				server.password())) {
			for (String user : List.of(this.old, this.now)) {
				execute(admin, "CREATE USER " + user + "@'%' IDENTIFIED BY 'shop'");
				execute(admin, "GRANT SELECT ON " + server.database() + ".* TO " + user + "@'%'");
			}
			try {
				LockDialect dialect = LockDialectSelector.select(admin.getMetaData(), "dlock_lock");
				endsItsOwn(dialect, server.mariaDbUrl(),
						() -> execute(admin, "GRANT PROCESS ON *.* TO " + this.now + "@'%'"));
			}
			finally {
				execute(admin, "DROP USER " + this.old + "@'%', " + this.now + "@'%'");
			}
		}
	}

	@Test
	void d1SessionOfAnotherUserIsLeftAndKeepsNoOtherFromItsEndOnPostgreSql() throws SQLException {
		PostgresServer server = PostgresServer.shared();
		try (Connection admin = DriverManager.getConnection(server.jdbcUrl(), server.username(), server.password())) {
			for (String user : List.of(this.old, this.now)) {
				execute(admin, "CREATE ROLE " + user + " LOGIN PASSWORD 'shop'");
			}
			try {
				LockDialect dialect = LockDialectSelector.select(admin.getMetaData(), "dlock_lock");
				endsItsOwn(dialect, server.jdbcUrl(), () -> execute(admin, "GRANT pg_read_all_stats TO " + this.now));
			}
			finally {
				execute(admin, "DROP ROLE " + this.old);
				execute(admin, "DROP ROLE " + this.now);
			}
		}
	}

	/**
	 * The numbers begin again after a restart of the server.
	 */
	@Test
	void d1SessionWithTheNumberOfAnEarlierOneIsLeftOnMariaDb() throws SQLException {
		MariaDbServer server = MariaDbServer.shared();
		leavesALaterSession(server.mariaDbUrl(), server.username(), server.password());
	}

	@Test
	void d1SessionWithTheNumberOfAnEarlierOneIsLeftOnPostgreSql() throws SQLException {
		PostgresServer server = PostgresServer.shared();
		leavesALaterSession(server.jdbcUrl(), server.username(), server.password());
	}

	private static void leavesALaterSession(String url, String user, String password) throws SQLException {
		try (Connection ending = DriverManager.getConnection(url, user, password);
				Connection later = DriverManager.getConnection(url, user, password)) {
			LockDialect dialect = LockDialectSelector.select(ending.getMetaData(), "dlock_lock");
			String session = dialect.session(later);
			String earlier = session.substring(0, session.indexOf(' ')) + " 0";
			assertThat(dialect.endSessions(ending, List.of(earlier))).as("it has ended").isEmpty();
			assertThat(later.isValid(10)).isTrue();
			assertThat(dialect.endSessions(ending, List.of(session))).containsExactly(session);
		}
	}

	private void endsItsOwn(LockDialect dialect, String url, Grant everySessionIsVisible) throws SQLException {
		try (Connection foreign = DriverManager.getConnection(url, this.old, "shop");
				Connection own = DriverManager.getConnection(url, this.now, "shop")) {
			List<String> sessions = List.of(dialect.session(foreign), dialect.session(own));
			try (Connection blind = DriverManager.getConnection(url, this.now, "shop")) {
				assertThat(dialect.endSessions(blind, sessions.subList(0, 1))).as("not seen").isEmpty();
			}
			everySessionIsVisible.run();
			try (Connection seeing = DriverManager.getConnection(url, this.now, "shop")) {
				assertThat(dialect.endSessions(seeing, sessions)).containsExactlyInAnyOrderElementsOf(sessions);
				Awaitility.await()
					.untilAsserted(
							() -> assertThat(dialect.endSessions(seeing, sessions)).containsExactly(sessions.get(0)));
			}
			assertThat(foreign.isValid(10)).isTrue();
		}
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	@FunctionalInterface
	private interface Grant {

		void run() throws SQLException;

	}

	/**
	 * The client was told the number of another session, and each statement may run in
	 * the session of another client.
	 */
	@Test
	void sessionBehindAPoolerHasNoName() throws SQLException {
		PostgresServer server = PostgresServer.shared();
		try (Connection told = DriverManager.getConnection(server.jdbcUrl(), server.username(), server.password());
				Connection used = DriverManager.getConnection(server.jdbcUrl(), server.username(), server.password())) {
			LockDialect dialect = LockDialectSelector.select(told.getMetaData(), "dlock_lock");
			Connection pooled = (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { Connection.class }, (proxy, method, arguments) -> method
						.invoke(method.getName().equals("createStatement") ? used : told, arguments));
			assertThat(dialect.session(pooled)).isEmpty();
			assertThat(dialect.session(used)).isNotEmpty();
		}
	}

}
