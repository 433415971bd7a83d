package io.dlock.store.jdbc;

import java.sql.SQLException;

import org.junit.jupiter.api.Test;

import io.dlock.store.StoreMisconfiguredException;
import io.dlock.test.MariaDbServer;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The contract on MariaDB, for both drivers and both meanings of an update count.
 */
abstract class AbstractMariaDbLockStoreTests extends AbstractServerLockStoreTests {

	final MariaDbServer server = MariaDbServer.shared();

	abstract String baseUrl();

	abstract boolean useAffectedRows();

	@Override
	String url() {
		return withOption(baseUrl());
	}

	@Override
	String url(int port) {
		return withOption(baseUrl().replace(":" + this.server.port() + "/", ":" + port + "/"));
	}

	private String withOption(String url) {
		return url + (url.contains("?") ? "&" : "?") + "useAffectedRows=" + useAffectedRows();
	}

	@Override
	String host() {
		return "127.0.0.1";
	}

	@Override
	int port() {
		return this.server.port();
	}

	@Override
	int roundTrips() {
		return 3;
	}

	@Override
	String username() {
		return this.server.username();
	}

	@Override
	String password() {
		return this.server.password();
	}

	@Override
	String schema() {
		return "schema-mysql.sql";
	}

	@Override
	void moveLeases(int days) throws SQLException {
		execute("UPDATE dlock_lock SET lease_until = lease_until + INTERVAL %d DAY".formatted(days));
	}

	@Test
	void r41TableWithACollationThatMixesKeysIsRefused() throws SQLException {
		refused("dlock_collation", "CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "InnoDB", "collation");
	}

	@Test
	void r42TableWithoutRowLocksIsRefused() throws SQLException {
		refused("dlock_engine", "CHARACTER SET ascii COLLATE ascii_bin", "MyISAM", "MyISAM");
	}

	private void refused(String table, String collation, String engine, String message) throws SQLException {
		execute("DROP TABLE IF EXISTS " + table);
		execute("""
				CREATE TABLE %s (lock_key VARCHAR(200) %s PRIMARY KEY, owner VARCHAR(64), token BIGINT,
				acquired_at DATETIME(6), lease_until DATETIME(6), renewals BIGINT, holder VARCHAR(255),
				reason VARCHAR(255), waiting VARCHAR(4096)) ENGINE = %s
				""".formatted(table, collation, engine));
		JdbcLockStore store = new JdbcLockStore(application(), settings().withTable(table));
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
			.withMessageContaining(message);
		store.close();
	}

}
