package io.dlock.test;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * Pools of database connections. They open a connection when it is needed and not before,
 * because that takes most of the time of a test.
 */
public final class Pools {

	private Pools() {
	}

	/**
	 * Create a pool of the default size.
	 * @param url the JDBC URL
	 * @param username the user
	 * @param password the password
	 * @return the pool, which has no connection yet and whose settings can be changed
	 */
	public static HikariDataSource create(String url, String username, String password) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		pool.setUsername(username);
		pool.setPassword(password);
		pool.setMinimumIdle(0);
		return pool;
	}

	public static HikariDataSource create(PostgresServer server) {
		return create(server.jdbcUrl(), server.username(), server.password());
	}

	public static HikariDataSource create(MariaDbServer server) {
		return create(server.mariaDbUrl(), server.username(), server.password());
	}

	/**
	 * Create the table of the locks unless it is there.
	 * @param database the database
	 * @param platform the platform, as in the name of the script
	 */
	public static void createLockTable(DataSource database, String platform) {
		new ResourceDatabasePopulator(new ClassPathResource("io/dlock/store/jdbc/schema-" + platform + ".sql"))
			.execute(database);
	}

}
