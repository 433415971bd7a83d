package io.dlock.test;

import java.net.URI;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;

/**
 * A database for tests, and how to connect to it.
 *
 * @param url the JDBC URL
 * @param username the user
 * @param password the password
 * @param platform the platform, as in the names of scripts
 */
public record TestDatabase(String url, String username, String password, String platform) {

	/**
	 * Create an empty database of H2 in memory.
	 * @return the database
	 */
	public static TestDatabase h2() {
		return new TestDatabase("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", "sa", "secret", "h2");
	}

	public static TestDatabase postgreSql() {
		PostgresServer server = PostgresServer.shared();
		return new TestDatabase(server.jdbcUrl(), server.username(), server.password(), "postgresql");
	}

	public static TestDatabase mariaDb() {
		return mariaDb(MariaDbServer.shared().mariaDbUrl());
	}

	/**
	 * Return MariaDB with the driver of MySQL.
	 * @return the database
	 */
	public static TestDatabase mariaDbWithConnectorJ() {
		return mariaDb(MariaDbServer.shared().mysqlUrl());
	}

	private static TestDatabase mariaDb(String url) {
		MariaDbServer server = MariaDbServer.shared();
		return new TestDatabase(url, server.username(), server.password(), "mysql");
	}

	/**
	 * Return the same database with an option of its driver.
	 * @param option the option with its value
	 * @return the database
	 */
	public TestDatabase with(String option) {
		return new TestDatabase(this.url + (this.url.contains("?") ? "&" : "?") + option, this.username, this.password,
				this.platform);
	}

	public String host() {
		return uri().getHost();
	}

	public int port() {
		return (uri().getPort() != -1) ? uri().getPort() : 5432;
	}

	private URI uri() {
		return URI.create(this.url.substring("jdbc:".length()));
	}

	/**
	 * Return the URL of the same database behind a {@link TcpProxy}.
	 * @param proxyPort the port of the proxy
	 * @return the JDBC URL
	 */
	public String url(int proxyPort) {
		return this.url.replaceFirst("//[^/]+/", "//127.0.0.1:" + proxyPort + "/");
	}

	public String script() {
		return "schema-" + this.platform + ".sql";
	}

	/**
	 * Create a pool.
	 * @return the pool, whose settings can be changed
	 */
	public HikariDataSource pool() {
		return Pools.create(this.url, this.username, this.password);
	}

	@Override
	public String toString() {
		return this.url.replaceFirst(":\\d+/.*|:mem:.*", "");
	}

}
