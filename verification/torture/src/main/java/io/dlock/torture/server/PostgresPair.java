package io.dlock.torture.server;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

import io.dlock.test.PostgresServer;
import io.dlock.test.TcpProxy;

/**
 * A PostgreSQL with an asynchronous standby. The network between the two can be cut, so
 * that a promotion loses what was committed since.
 */
public final class PostgresPair implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final Duration INTERVAL = Duration.ofMillis(20);

	private final Map<String, String> environment;

	private final String[] arguments;

	private volatile PostgresServer primary;

	private PostgresServer standby;

	private TcpProxy replication;

	private PostgresPair(Map<String, String> environment, String... arguments) {
		this.environment = environment;
		this.arguments = arguments;
		this.primary = PostgresServer.start(environment, arguments);
		this.replication = TcpProxy.to(this.primary.host(), this.primary.port());
		this.standby = this.primary.startStandby(this.replication.port(), environment, arguments);
	}

	static PostgresPair start(Map<String, String> environment, String... arguments) {
		return new PostgresPair(environment, arguments);
	}

	/**
	 * The one that clients use.
	 * @return the server
	 */
	PostgresServer primary() {
		return this.primary;
	}

	/**
	 * Let nothing reach the standby any more that it does not have yet: a killed process
	 * still delivers what the kernel has of it.
	 * @throws SQLException if the standby does not follow
	 */
	public void cutReplication() throws SQLException {
		await("SELECT count(*) > 0 FROM pg_stat_wal_receiver WHERE status = 'streaming'");
		this.replication.close();
	}

	/**
	 * Make the standby the primary, and wait until it takes writes.
	 * @throws SQLException if it does not become that
	 */
	public void promote() throws SQLException {
		await("SELECT pg_promote()");
		PostgresServer before = this.primary;
		this.primary = this.standby;
		this.standby = before;
	}

	/**
	 * Replace the former primary by a new standby.
	 */
	public void follow() {
		// what a killed server leaves behind, its successor removes
		this.standby.restart();
		this.standby.close();
		this.replication = TcpProxy.to(this.primary.host(), this.primary.port());
		this.standby = this.primary.startStandby(this.replication.port(), this.environment, this.arguments);
	}

	private void await(String question) throws SQLException {
		long end = System.nanoTime() + PATIENCE.toNanos();
		while (!ask(question)) {
			if (System.nanoTime() > end) {
				throw new SQLException("The standby does not answer yes: " + question);
			}
			LockSupport.parkNanos(INTERVAL.toNanos());
		}
	}

	private boolean ask(String question) throws SQLException {
		try (Connection connection = DriverManager.getConnection(this.standby.jdbcUrl(), this.standby.username(),
				this.standby.password());
				Statement statement = connection.createStatement();
				ResultSet result = statement.executeQuery(question)) {
			return result.next() && result.getBoolean(1);
		}
	}

	@Override
	public void close() {
		this.standby.close();
		this.replication.close();
		this.primary.close();
	}

}
