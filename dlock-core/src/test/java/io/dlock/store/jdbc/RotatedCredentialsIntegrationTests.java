package io.dlock.store.jdbc;

import java.time.Duration;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The own pool connects as the application's pool would connect now.
 */
class RotatedCredentialsIntegrationTests {

	/** A pool that cannot connect for two of these is replaced, which is too late. */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private final PostgresServer server = PostgresServer.shared();

	private final HikariDataSource admin = Pools.create(this.server);

	private final String user = "rotated_" + Long.toHexString(UUID.randomUUID().getMostSignificantBits());

	private String password = "first";

	@BeforeEach
	void createUser() {
		Pools.createLockTable(this.admin, "postgresql");
		run("CREATE ROLE " + this.user + " LOGIN PASSWORD '" + this.password + "'");
		run("GRANT SELECT, INSERT, UPDATE, DELETE ON dlock_lock TO " + this.user);
	}

	@AfterEach
	void dropUser() {
		endSessions();
		run("DROP OWNED BY " + this.user);
		run("DROP ROLE " + this.user);
		this.admin.close();
	}

	@Test
	void credentialsThatWereSetOnThePoolOfTheApplicationAreUsed() {
		HikariDataSource pool = pool(new HikariDataSource());
		survivesRotation(pool, () -> pool.setCredentials(Credentials.of(this.user, this.password)));
	}

	@Test
	void passwordThatWasSetOnThePoolOfTheApplicationIsUsed() {
		HikariDataSource pool = pool(new HikariDataSource());
		survivesRotation(pool, () -> pool.setPassword(this.password));
	}

	@Test
	void tokensThatAPoolOfTheApplicationMakesAreUsed() {
		survivesRotation(pool(new HikariDataSource() {

			@Override
			public Credentials getCredentials() {
				return Credentials.of(RotatedCredentialsIntegrationTests.this.user,
						RotatedCredentialsIntegrationTests.this.password);
			}

		}), () -> {
		});
	}

	@Test
	void credentialsProviderOfTheApplicationIsAsked() {
		HikariDataSource pool = pool(new HikariDataSource());
		pool.setCredentialsProvider(() -> Credentials.of(this.user, this.password));
		survivesRotation(pool, () -> {
		});
	}

	@Test
	void poolThatWrapsADataSourceConnectsThroughIt() {
		PGSimpleDataSource target = new PGSimpleDataSource();
		target.setUrl(this.server.jdbcUrl());
		target.setUser(this.user);
		target.setPassword(this.password);
		HikariDataSource pool = new HikariDataSource();
		pool.setDataSource(target);
		survivesRotation(pool, () -> target.setPassword(this.password));
	}

	@Test
	void poolOfADataSourceClassConnectsThroughIt() {
		HikariDataSource pool = new HikariDataSource();
		pool.setDataSourceClassName(PGSimpleDataSource.class.getName());
		pool.addDataSourceProperty("url", this.server.jdbcUrl());
		pool.setUsername(this.user);
		pool.setPassword(this.password);
		survivesRotation(pool, () -> pool.setPassword(this.password));
	}

	private HikariDataSource pool(HikariDataSource pool) {
		pool.setJdbcUrl(this.server.jdbcUrl());
		pool.setUsername(this.user);
		pool.setPassword(this.password);
		return pool;
	}

	private void survivesRotation(HikariDataSource pool, Runnable rotation) {
		try (pool;
				JdbcLockStore store = new JdbcLockStore(pool,
						JdbcLockStoreSettings.defaults().withCommandTimeout(PATIENCE))) {
			Awaitility.await().ignoreException(StoreException.class).untilAsserted(store::verify);
			this.password = "second";
			run("ALTER ROLE " + this.user + " PASSWORD '" + this.password + "'");
			rotation.run();
			endSessions();
			Awaitility.await()
				.ignoreException(StoreException.class)
				.untilAsserted(() -> assertThat(
						store.acquire(new AcquireCommand(this.user, "a", Duration.ofSeconds(20), "", "")))
					.isInstanceOf(Granted.class));
		}
	}

	private void endSessions() {
		JdbcClient.create(this.admin)
			.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ?")
			.param(this.user)
			.query()
			.listOfRows();
	}

	private void run(String sql) {
		JdbcClient.create(this.admin).sql(sql).update();
	}

}
