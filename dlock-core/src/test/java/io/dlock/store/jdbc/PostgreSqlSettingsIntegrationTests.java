package io.dlock.store.jdbc;

import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.test.Pools;
import io.dlock.test.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Settings of the database, its connections and its tables: a store takes them, replaces
 * them or refuses to start.
 */
class PostgreSqlSettingsIntegrationTests extends AbstractJdbcStoreTests {

	@Override
	TestDatabase createDatabase() {
		return TestDatabase.postgreSql();
	}

	@Test
	void r39CommitsAreDurableWhateverTheDefaultOfTheDatabase() throws SQLException {
		try (HikariDataSource careless = pool(this.database.url() + "?options=-c%20synchronous_commit=off")) {
			JdbcLockStore store = new JdbcLockStore(careless, settings());
			store.verify();
			granted(store.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
			assertThat(ownSetting(store, "synchronous_commit")).isEqualTo("on");
			assertThat(ownSetting(store, "lock_timeout")).as("a little less than the client waits").isEqualTo("16s");
			assertThat(ownSetting(store, "statement_timeout")).as("not only for row locks").isEqualTo("16s");
			store.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void commitsWaitForWhatTheSettingsSay(SynchronousCommit level) throws SQLException {
		try (HikariDataSource application = pool(this.database.url());
				JdbcLockStore store = new JdbcLockStore(application, settings().withSynchronousCommit(level))) {
			store.verify();
			assertThat(ownSetting(store, "synchronous_commit"))
				.isEqualTo((level == SynchronousCommit.DEFAULT) ? "on" : level.name().toLowerCase(Locale.ROOT));
			assertThat(store.inspection().diagnose().warnings())
				.filteredOn((warning) -> warning.contains("no lock waits for a standby"))
				.hasSize(level.name().startsWith("REMOTE") ? 1 : 0);
		}
	}

	@Test
	void connectionsOfTheApplicationKeepTheirSynchronousCommit() {
		try (JdbcLockStore store = new JdbcLockStore(application(),
				settings().withPoolSize(0).withSynchronousCommit(SynchronousCommit.REMOTE_APPLY))) {
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
				.withMessageContaining("is for the locks' own connections")
				.withMessageContaining("dlock.jdbc.pool-size");
		}
	}

	private static String ownSetting(JdbcLockStore store, String name) {
		return store.connections().execute("show", (dialect, connection) -> {
			try (Statement statement = connection.createStatement(); var row = statement.executeQuery("SHOW " + name)) {
				row.next();
				return row.getString(1);
			}
		});
	}

	@Test
	void readOnlyDatabaseRefusesAndIsNotBusy() {
		try (HikariDataSource readOnly = pool(this.database.url() + "?options=-c%20default_transaction_read_only=on")) {
			JdbcLockStore store = new JdbcLockStore(readOnly, settings());
			assertThatExceptionOfType(StoreException.class).isThrownBy(store::verify)
				.withMessageContaining("read-only")
				.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(StoreException.Effect.NONE));
			store.close();
		}
	}

	@Test
	void tableInAnotherSchemaMayBeNamed() throws SQLException {
		execute("CREATE SCHEMA IF NOT EXISTS locks");
		execute("CREATE TABLE IF NOT EXISTS locks.dlock_lock (LIKE dlock_lock INCLUDING ALL)");
		JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("locks.dlock_lock"));
		store.verify();
		granted(store.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
		assertThat(store().find(key())).isEmpty();
		assertThat(store.find(key())).isPresent();
		store.close();
	}

	@Test
	void r39TableInAnotherSchemaIsChecked() throws SQLException {
		execute("CREATE SCHEMA IF NOT EXISTS locks");
		execute("DROP TABLE IF EXISTS locks.dlock_elsewhere");
		execute("CREATE UNLOGGED TABLE locks.dlock_elsewhere (LIKE dlock_lock INCLUDING ALL)");
		try (JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("locks.dlock_elsewhere"))) {
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
				.withMessageContainingAll("locks.dlock_elsewhere", "UNLOGGED");
		}
		finally {
			execute("DROP TABLE locks.dlock_elsewhere");
		}
	}

	/**
	 * Applications set it for columns of types of their own.
	 */
	@Test
	void r41ParametersWithoutATypeAreTaken() {
		HikariDataSource untyped = pool(this.database.with("stringtype=unspecified").url());
		try (JdbcLockStore store = new JdbcLockStore(untyped, settings())) {
			store.verify();
		}
	}

	/**
	 * An index in the order of a library does not find its rows any more when the next
	 * version of the library has another order, and lets a second row in.
	 */
	@Test
	void r41KeyInTheOrderOfTheOperatingSystemIsRefused() throws SQLException {
		String foreign = JdbcClient.create(application())
			.sql("SELECT collname FROM pg_collation WHERE collprovider IN ('c', 'i') AND collcollate IS DISTINCT FROM 'C' "
					+ "AND collcollate IS DISTINCT FROM 'POSIX' AND collencoding IN (-1, 6) LIMIT 1")
			.query(String.class)
			.single();
		execute("DROP TABLE IF EXISTS dlock_foreign");
		execute("CREATE TABLE dlock_foreign (LIKE dlock_lock INCLUDING ALL)");
		JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("dlock_foreign"));
		store.verify();
		execute("ALTER TABLE dlock_foreign ALTER COLUMN lock_key TYPE VARCHAR(512) COLLATE \"" + foreign + "\"");
		StoreMisconfiguredException refused = catchThrowableOfType(StoreMisconfiguredException.class, store::verify);
		assertThat(refused.description()).contains("lock_key", "dlock_foreign", foreign);
		execute(refused.action().replaceFirst(".*(?=ALTER TABLE)", ""));
		store.verify();
		store.close();
	}

	@Test
	void r39TableThatACrashEmptiesIsRefused() throws SQLException {
		execute("DROP TABLE IF EXISTS dlock_unlogged");
		execute("CREATE UNLOGGED TABLE dlock_unlogged (LIKE dlock_lock INCLUDING ALL)");
		try (JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("dlock_unlogged"))) {
			StoreMisconfiguredException refused = catchThrowableOfType(StoreMisconfiguredException.class,
					store::verify);
			assertThat(refused.description()).contains("dlock_unlogged", "UNLOGGED");
			execute(refused.action().replaceFirst(".*(?=ALTER TABLE)", ""));
			store.verify();
		}
	}

	/**
	 * A pool takes the isolation of its first connection for that of all.
	 */
	@Test
	void isolationOfEachConnectionIsThatOfTheLocks() throws SQLException {
		String role = "strict_" + Long.toString(System.nanoTime(), 36);
		execute("CREATE ROLE " + role + " LOGIN PASSWORD 'strict'");
		execute("GRANT ALL ON dlock_lock TO " + role);
		try (HikariDataSource application = Pools.create(this.database.url(), role, "strict");
				JdbcLockStore store = new JdbcLockStore(application, settings())) {
			String later = store.connections().execute("outer", (dialect, first) -> {
				execute("ALTER ROLE " + role + " SET default_transaction_isolation = 'serializable'");
				return ownSetting(store, "default_transaction_isolation");
			});
			assertThat(later).isEqualTo("read committed");
		}
	}

	@Test
	void r41KeyInTheOrderOfTheDatabaseIsAcceptedIfThatIsTheOrderOfTheBytes() throws SQLException {
		execute("DROP TABLE IF EXISTS dlock_default");
		execute("CREATE TABLE dlock_default (LIKE dlock_lock INCLUDING ALL)");
		execute("ALTER TABLE dlock_default ALTER COLUMN lock_key TYPE VARCHAR(512) COLLATE \"default\"");
		JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("dlock_default"));
		store.verify();
		store.close();
	}

	@Test
	void databaseThatDoesNotStoreEveryCharacterTakesEveryLock() throws SQLException {
		execute("DROP DATABASE IF EXISTS dlock_latin1 (FORCE)");
		execute("CREATE DATABASE dlock_latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
		HikariDataSource latin1 = pool(this.database.url().replaceFirst("/[^/]+$", "/dlock_latin1"));
		Pools.createLockTable(latin1, "postgresql");
		try (JdbcLockStore store = new JdbcLockStore(latin1, settings())) {
			store.verify();
			granted(store.acquire(new AcquireCommand(key(), "a", LEASE, "zamówił…", "ł".repeat(255))));
			assertThat(store.find(key())).hasValueSatisfying((lock) -> {
				assertThat(lock.holder()).isEqualTo("zam\\u{f3}wi\\u{142}\\u{2026}");
				assertThat(lock.reason()).startsWith("\\u{142}\\u{142}").hasSizeLessThanOrEqualTo(255);
			});
			granted(store.acquire(new AcquireCommand(key() + "/member", "+a", LEASE, "zamówił…", "ł")));
			granted(store.acquireAll(List.of(new AcquireCommand(key() + "/batch", "a", LEASE, "zamówił…", "ł")))
				.get(0));
		}
	}

	/**
	 * These databases speak the language of PostgreSQL, but each of their nodes has its
	 * own clock.
	 */
	@ParameterizedTest
	@ValueSource(
			strings = { "CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu)", "PostgreSQL 15.2-YB-2025.1.0.0-b0 on x86" })
	void r33DatabaseWithAClockOnEachNodeIsRefused(String version) throws SQLException {
		execute("CREATE SCHEMA IF NOT EXISTS dlock_other");
		execute("CREATE OR REPLACE FUNCTION dlock_other.version() RETURNS text LANGUAGE sql AS $$ SELECT '" + version
				+ "' $$");
		HikariDataSource other = pool(this.database.url() + "?options=-c%20search_path=dlock_other,pg_catalog,public");
		try (JdbcLockStore store = new JdbcLockStore(other, settings())) {
			assertThatExceptionOfType(StoreMisconfiguredException.class)
				.isThrownBy(() -> store.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")))
				.withMessageContaining(version);
		}
	}

}
