package io.dlock.store.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.fencing.StaleTokenException;
import io.dlock.fencing.jdbc.FencingGuard;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StoredLock;
import io.dlock.test.DocsPage;
import io.dlock.test.MariaDbServer;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * R54: a database user that may do what {@code docs/operations.md} says and nothing else.
 */
class LeastPrivilegesIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	private static final String PASSWORD = "secret";

	private final String key = "privileges/" + UUID.randomUUID();

	@Test
	void postgreSql() throws Exception {
		PostgresServer server = PostgresServer.shared();
		try (HikariDataSource admin = Pools.create(server)) {
			createTables(admin, "schema-postgresql.sql");
			if (JdbcClient.create(admin)
				.sql("SELECT 1 FROM pg_roles WHERE rolname = 'shop'")
				.query()
				.listOfRows()
				.isEmpty()) {
				JdbcClient.create(admin).sql("CREATE ROLE shop LOGIN PASSWORD '" + PASSWORD + "'").update();
			}
			grant(admin, "shop");
		}
		worksAs(server.jdbcUrl());
	}

	@Test
	void mariaDb() throws Exception {
		MariaDbServer server = MariaDbServer.shared();
		try (HikariDataSource admin = Pools.create(server)) {
			createTables(admin, "schema-mysql.sql");
			JdbcClient.create(admin)
				.sql("CREATE USER IF NOT EXISTS shop@'%' IDENTIFIED BY '" + PASSWORD + "'")
				.update();
			grant(admin, "shop@'%'");
		}
		worksAs(server.mariaDbUrl());
		worksAs(server.mysqlUrl());
	}

	private static void createTables(HikariDataSource admin, String script) {
		new ResourceDatabasePopulator(new ClassPathResource(script, JdbcLockStore.class),
				new ClassPathResource(script, FencingGuard.class))
			.execute(admin);
	}

	private static void grant(HikariDataSource admin, String user) {
		for (String grant : DocsPage.of("operations.md").lines("GRANT ")) {
			JdbcClient.create(admin).sql(grant.replace("shop", user).replace(";", "")).update();
		}
	}

	private void worksAs(String url) throws Exception {
		List<String> told = new CopyOnWriteArrayList<>();
		MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));
		try (HikariDataSource pool = Pools.create(url, "shop", PASSWORD);
				JdbcLockStore store = new JdbcLockStore(pool,
						JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND));
				Mailbox mailbox = store.openMailbox(address, told::add)) {
			assertThat(mailbox).isNotNull();
			store.verify();
			assertThat(store.acquire(new AcquireCommand(this.key, "a", LEASE, "holder", "")))
				.isInstanceOf(Granted.class);
			AcquireCommand queueing = new AcquireCommand(this.key, "b", LEASE, "holder", "", address, true, null);
			assertThat(store.acquire(queueing)).isInstanceOf(Refused.class);
			assertThat(store.renew(List.of(new RenewCommand(this.key, "a", LEASE))))
				.containsExactly(RenewResult.RENEWED);
			assertThat(store.find(this.key)).isPresent();
			assertThat(store.inspection().list(10_000).locks()).isNotEmpty();
			assertThat(store.inspection().diagnose().role()).isEqualTo("primary");
			assertThat(store.release(this.key, "a")).isTrue();
			Awaitility.await().until(() -> !told.isEmpty());
			assertThat(store.acquire(queueing)).isInstanceOf(Granted.class);
			assertThat(store.inspection()
				.forceRelease(this.key, store.find(this.key).map(StoredLock::token).orElseThrow())).isTrue();
			store.sweep();
			fences(pool);
			refuses(pool, "DROP TABLE dlock_lock", "TRUNCATE TABLE dlock_lock", "DELETE FROM dlock_fence",
					"CREATE TABLE dlock_new (id INT)");
		}
	}

	private void fences(HikariDataSource pool) {
		FencingGuard guard = new FencingGuard(pool);
		TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
		String resource = this.key + "/" + UUID.randomUUID();
		transaction.executeWithoutResult((status) -> guard.check(resource, 2));
		transaction.executeWithoutResult((status) -> guard.check(resource, 3));
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> transaction.executeWithoutResult((status) -> guard.check(resource, 2)));
	}

	private static void refuses(HikariDataSource pool, String... statements) {
		for (String statement : statements) {
			assertThatExceptionOfType(DataAccessException.class).as(statement)
				.isThrownBy(() -> JdbcClient.create(pool).sql(statement).update())
				.havingRootCause()
				.withMessageMatching("(?is).*(denied|must be owner).*");
		}
	}

}
