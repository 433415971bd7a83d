package io.dlock.autoconfigure.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import io.dlock.autoconfigure.StartupRetry;
import io.dlock.store.jdbc.dialect.LockTableUpgrade;
import io.dlock.test.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Creation of the tables in a database that has trouble.
 */
class TableInitializerIntegrationTests {

	/**
	 * The user has no right to create the table, which is there.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 4 })
	void connectionThatFailsDoesNotSayThatTheTableIsMissing(int failing) throws SQLException {
		PostgresServer server = PostgresServer.shared();
		String url = server.jdbcUrl();
		String user = "reader" + failing;
		try (Connection admin = DriverManager.getConnection(url, server.username(), server.password());
				Statement statement = admin.createStatement()) {
			statement.execute("DROP ROLE IF EXISTS " + user);
			statement.execute("CREATE ROLE " + user + " LOGIN PASSWORD 'shop'");
			statement.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
			statement.execute("CREATE TABLE IF NOT EXISTS there_already (lock_key VARCHAR(1))");
		}
		AtomicInteger connections = new AtomicInteger();
		TableInitializer initializer = new TableInitializer("lock", DlockJdbcProperties.DEFAULT_TABLE, "there_already",
				always(), new StartupRetry(Duration.ofSeconds(30)), new DefaultResourceLoader(), LockTableUpgrade::run);
		initializer.initialize(new AbstractDataSource() {

			@Override
			public Connection getConnection() throws SQLException {
				return getConnection(user, "shop");
			}

			@Override
			public Connection getConnection(String username, String password) throws SQLException {
				if (connections.incrementAndGet() == failing) {
					throw new SQLException("The connection is gone", "08006");
				}
				return DriverManager.getConnection(url, username, password);
			}

		});
		assertThat(connections).hasValueGreaterThan(1);
	}

	@Test
	void columnIsAddedOnConnectionsThatDoNotCommitByThemselves() throws SQLException {
		PostgresServer server = PostgresServer.shared();
		String url = server.jdbcUrl();
		try (Connection admin = DriverManager.getConnection(url, server.username(), server.password());
				Statement statement = admin.createStatement()) {
			statement.execute("DROP TABLE IF EXISTS of_an_earlier_version");
			new TableInitializer("lock", DlockJdbcProperties.DEFAULT_TABLE, "of_an_earlier_version", always(), null,
					new DefaultResourceLoader(), (connection, table) -> {
					})
				.initialize(new DriverManagerDataSource(url, server.username(), server.password()));
			statement.execute("ALTER TABLE of_an_earlier_version DROP COLUMN members");
			SingleConnectionDataSource dataSource = new SingleConnectionDataSource(url, server.username(),
					server.password(), true);
			dataSource.setAutoCommit(false);
			new TableInitializer("lock", DlockJdbcProperties.DEFAULT_TABLE, "of_an_earlier_version", always(), null,
					new DefaultResourceLoader(), LockTableUpgrade::run)
				.initialize(dataSource);
			assertThat(dataSource.getConnection().getAutoCommit()).as("is that of the application").isFalse();
			dataSource.destroy();
			statement.execute("SELECT members FROM of_an_earlier_version");
		}
	}

	private static DlockJdbcProperties always() {
		DlockJdbcProperties properties = new DlockJdbcProperties();
		properties.setInitializeSchema(DatabaseInitializationMode.ALWAYS);
		return properties;
	}

	/**
	 * As a pool with such connections, which rolls back what is not committed.
	 */
	@Test
	void tableIsCreatedOnConnectionsThatDoNotCommitByThemselves() throws SQLException {
		PostgresServer server = PostgresServer.shared();
		DriverManagerDataSource plain = new DriverManagerDataSource(server.jdbcUrl(), server.username(),
				server.password());
		try (Connection admin = plain.getConnection(); Statement statement = admin.createStatement()) {
			statement.execute("DROP TABLE IF EXISTS committed_explicitly");
			new TableInitializer("lock", DlockJdbcProperties.DEFAULT_TABLE, "committed_explicitly", always(), null,
					new DefaultResourceLoader(), (connection, table) -> {
					})
				.initialize(new DelegatingDataSource(plain) {

					@Override
					public Connection getConnection() throws SQLException {
						Connection connection = super.getConnection();
						connection.setAutoCommit(false);
						return connection;
					}

				});
			assertThat(statement.executeQuery("SELECT * FROM committed_explicitly").next()).isFalse();
		}
	}

}
