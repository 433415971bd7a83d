package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreMisconfiguredException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * MariaDB, for both drivers and both meanings of an update count.
 */
abstract class AbstractMariaDbLockStoreTests extends AbstractServerLockStoreTests {

	@Override
	int roundTrips() {
		return 3;
	}

	@Override
	void moveLeases(int days) throws SQLException {
		execute("UPDATE dlock_lock SET lease_until = lease_until + INTERVAL %d DAY".formatted(days));
	}

	@Test
	void textColumnThatDoesNotKnowEveryCharacterIsRefused() throws SQLException {
		execute("DROP TABLE IF EXISTS dlock_latin");
		execute("CREATE TABLE dlock_latin LIKE dlock_lock");
		execute("ALTER TABLE dlock_latin MODIFY reason VARCHAR(255) CHARACTER SET latin1 NOT NULL");
		JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("dlock_latin"));
		StoreMisconfiguredException refused = catchThrowableOfType(StoreMisconfiguredException.class, store::verify);
		assertThat(refused.description()).contains("column reason", "latin1");
		execute(refused.action().replaceFirst(".*(?=ALTER TABLE)", ""));
		store.verify();
		store.close();
	}

	/**
	 * The mode of a session says, among others, whether an assignment sees those before
	 * it, and whether an empty text is {@code NULL}.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "sql_mode='STRICT_TRANS_TABLES,SIMULTANEOUS_ASSIGNMENT'", "sql_mode='ORACLE'",
			"sql_mode='EMPTY_STRING_IS_NULL'", "sql_mode='ANSI'", "sql_mode='NO_BACKSLASH_ESCAPES'", "sql_mode=''",
			"sql_safe_updates=1", "sql_select_limit=1", "max_join_size=10" })
	void settingsOfTheSessionChangeNoStatement(String setting) {
		assertThatLocksWorkWith("sessionVariables=" + setting);
	}

	/**
	 * They are used as they are.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "sql_mode='SIMULTANEOUS_ASSIGNMENT'", "sql_mode='ORACLE'", "sql_safe_updates=1" })
	void connectionsOfTheApplicationThatBreakTheLocksAreRefused(String setting) {
		HikariDataSource connections = pool(this.database.with("sessionVariables=" + setting).url());
		try (JdbcLockStore store = new JdbcLockStore(connections, settings().withPoolSize(0))) {
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
				.withMessageContaining("sql_mode")
				.withMessageContaining("sql_safe_updates");
		}
	}

	/**
	 * MariaDB writes the rows of an inner query to a file if they have a text without a
	 * limit. The question for their number may do so as well.
	 */
	@Test
	void locksNeedNoTemporaryFile() throws SQLException {
		try (Connection connection = application().getConnection();
				JdbcLockStore store = new JdbcLockStore(new SingleConnectionDataSource(connection, true),
						settings().withPoolSize(0))) {
			long start = temporaryFiles(connection);
			long before = temporaryFiles(connection);
			granted(store.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
			assertThat(store.acquire(new AcquireCommand(key(), "b", LEASE, "holder", ""))).isInstanceOf(Refused.class);
			assertThat(store.release(key(), "a")).isTrue();
			assertThat(temporaryFiles(connection) - before).isEqualTo(before - start);
		}
	}

	private static long temporaryFiles(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet status = statement.executeQuery("SHOW SESSION STATUS LIKE 'Created_tmp_disk_tables'")) {
			assertThat(status.next()).isTrue();
			return status.getLong(2);
		}
	}

	/**
	 * A proxy in front of a primary and its replicas lets replicas answer statements that
	 * only read.
	 */
	@Test
	void readsThatDecideGoToThePrimary() {
		BoundValues observed = new BoundValues();
		JdbcLockStore store = new JdbcLockStore(observed.observe(application()), settings().withPoolSize(0));
		store.find(key());
		int before = observed.executions().size();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(1));
		granted(store.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
		store.acquire(new AcquireCommand(key(), "b", LEASE, "holder", "", address, true, null));
		store.renew(List.of(new RenewCommand(key(), "a", LEASE)));
		store.release(key(), "a");
		assertThat(observed.executions().subList(before, observed.executions().size()))
			.filteredOn((sql) -> sql.startsWith("SELECT"))
			.hasSizeGreaterThan(2)
			.allSatisfy((sql) -> assertThat(sql.strip()).endsWith("FOR UPDATE"));
	}

	@Test
	void r41TableWithACollationThatMixesKeysIsRefused() throws SQLException {
		refused("dlock_collation", "CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "InnoDB", "collation");
	}

	@Test
	void textOfAnyUnicodeIsAccepted() throws SQLException {
		execute("DROP TABLE IF EXISTS dlock_utf16");
		execute("CREATE TABLE dlock_utf16 LIKE dlock_lock");
		execute("ALTER TABLE dlock_utf16 CONVERT TO CHARACTER SET utf16 COLLATE utf16_bin");
		try (JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("dlock_utf16"))) {
			store.verify();
			granted(store.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "\uD83D\uDD12")));
			assertThat(store.renew(List.of(new RenewCommand(key(), "a", LEASE)))).containsExactly(RenewResult.RENEWED);
			assertThat(store.find(key()).orElseThrow().reason()).isEqualTo("\uD83D\uDD12");
		}
	}

	@Test
	void viewIsRefusedAsSuch() throws SQLException {
		execute("CREATE OR REPLACE VIEW dlock_view AS SELECT * FROM dlock_lock");
		try (JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("dlock_view"))) {
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
				.withMessageContaining("is a view")
				.withMessageContaining("dlock.jdbc.table");
		}
		finally {
			execute("DROP VIEW dlock_view");
		}
	}

	/**
	 * The names of tables are those of files, whose case matters on most systems.
	 */
	@Test
	void tableWhoseNameDiffersByItsCaseIsAnotherOne() throws SQLException {
		execute("DROP TABLE IF EXISTS DLOCK_CASE");
		execute("DROP TABLE IF EXISTS dlock_case");
		execute("CREATE TABLE DLOCK_CASE (lock_key INT) ENGINE = MyISAM");
		try (JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("dlock_case"))) {
			execute("CREATE TABLE dlock_case LIKE dlock_lock");
			store.verify();
		}
		finally {
			execute("DROP TABLE DLOCK_CASE");
		}
	}

	@Test
	void r42TableWithoutRowLocksIsRefused() throws SQLException {
		refused("dlock_engine", "CHARACTER SET ascii COLLATE ascii_bin", "MyISAM", "MyISAM");
	}

	private void refused(String table, String collation, String engine, String message) throws SQLException {
		execute("DROP TABLE IF EXISTS " + table);
		execute("""
				CREATE TABLE %s (lock_key VARCHAR(512) %s PRIMARY KEY, owner VARCHAR(64), token BIGINT,
				acquired_at DATETIME(6), lease_until DATETIME(6), renewals BIGINT, holder VARCHAR(255),
				reason VARCHAR(255), waiting MEDIUMTEXT) ENGINE = %s
				""".formatted(table, collation, engine));
		JdbcLockStore store = new JdbcLockStore(application(), settings().withTable(table));
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
			.withMessageContaining(message);
		store.close();
	}

}
