package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.NoSuchElementException;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * The connections of the locks are those of the application, because it wants that or
 * because its pool is not HikariCP.
 */
class ApplicationPoolIntegrationTests {

	private final String key = "shared/" + UUID.randomUUID();

	@Test
	void a5WrappedPoolThatIsUsedUpIsCongestion() throws SQLException {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
			pool.setMaximumPoolSize(1);
			pool.setConnectionTimeout(250);
			Pools.createLockTable(pool, "h2");
			try (JdbcLockStore store = store(new DelegatingDataSource(pool))) {
				assertThat(acquire(store)).isInstanceOf(Granted.class);
				try (Connection used = pool.getConnection()) {
					assertThat(used.isClosed()).isFalse();
					assertThat(failure(store)).isInstanceOf(StoreCongestedException.class);
				}
			}
		}
	}

	static Stream<SQLException> timeoutsOfPools() {
		return Stream
			.of(new SQLTransientConnectionException("not available, request timed out after 250ms"),
					new SQLException("Cannot get a connection, pool error Timeout waiting for idle object",
							new NoSuchElementException("Timeout waiting for idle object")),
					new PoolExhaustedException());
	}

	@ParameterizedTest
	@MethodSource("timeoutsOfPools")
	void a5OtherPoolThatIsUsedUpIsCongestion(SQLException thrown) {
		try (JdbcLockStore store = other(thrown)) {
			assertThat(failure(store)).isInstanceOf(StoreCongestedException.class);
		}
	}

	static Stream<SQLException> failuresToConnect() {
		SQLException refused = new SQLException("Connection refused", "08001");
		return Stream.of(refused, new SQLTransientConnectionException("request timed out after 250ms", refused),
				new SQLTransientConnectionException("Communications link failure", "08S01"),
				new SQLException("Cannot create PoolableConnectionFactory", refused));
	}

	@ParameterizedTest
	@MethodSource("failuresToConnect")
	void a5OtherPoolThatCannotConnectIsNoCongestion(SQLException thrown) {
		try (JdbcLockStore store = other(thrown)) {
			assertThat(failure(store)).isNotNull().isNotInstanceOf(StoreCongestedException.class);
		}
	}

	@Test
	void d2ConnectionToAReadOnlyServerIsLeft() {
		try (HikariDataSource pool = Pools.create(PostgresServer.shared())) {
			pool.setMaximumPoolSize(1);
			Pools.createLockTable(pool, "postgresql");
			readOnly(pool);
			try (JdbcLockStore store = new JdbcLockStore(pool,
					JdbcLockStoreSettings.defaults().withPoolSize(0).withCommandTimeout(Duration.ofSeconds(1)))) {
				Awaitility.await()
					.ignoreExceptionsInstanceOf(StoreException.class)
					.untilAsserted(() -> assertThat(acquire(store)).isInstanceOf(Granted.class));
			}
		}
	}

	/**
	 * A server that stays read-only must not cost the application a connection with each
	 * call.
	 */
	@Test
	void d2ReadOnlyServerCostsFewConnectionsOfTheApplication() {
		PostgresServer server = PostgresServer.shared();
		AtomicInteger opened = new AtomicInteger();
		PGSimpleDataSource target = new PGSimpleDataSource();
		target.setUrl(server.jdbcUrl());
		target.setUser(server.username());
		target.setPassword(server.password());
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setDataSource(new DelegatingDataSource(target) {

				@Override
				public Connection getConnection() throws SQLException {
					opened.incrementAndGet();
					return super.getConnection();
				}

			});
			pool.setMaximumPoolSize(1);
			Pools.createLockTable(pool, "postgresql");
			try (JdbcLockStore store = new JdbcLockStore(pool,
					JdbcLockStoreSettings.defaults().withPoolSize(0).withCommandTimeout(Duration.ofMinutes(5)))) {
				store.verify();
				readOnly(pool);
				opened.set(0);
				for (int i = 0; i < 20; i++) {
					assertThat(failure(store)).returns(Effect.NONE, StoreException::effect);
					readOnly(pool);
				}
				assertThat(opened.get()).isLessThanOrEqualTo(1);
			}
		}
	}

	private static void readOnly(HikariDataSource pool) {
		try (Connection connection = pool.getConnection()) {
			connection.createStatement().execute("SET default_transaction_read_only = on");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private JdbcLockStore other(SQLException thrown) {
		HikariDataSource database = new HikariDataSource();
		database.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
		Pools.createLockTable(database, "h2");
		OtherPool pool = new OtherPool(database);
		JdbcLockStore store = store(pool);
		assertThat(acquire(store)).isInstanceOf(Granted.class);
		pool.failure = thrown;
		return store;
	}

	private static JdbcLockStore store(DataSource pool) {
		return new JdbcLockStore(pool,
				JdbcLockStoreSettings.defaults().withPoolSize(0).withCommandTimeout(Patience.COMMAND));
	}

	private Object acquire(JdbcLockStore store) {
		return store.acquire(new AcquireCommand(this.key, "a", Duration.ofMinutes(1), "holder", ""));
	}

	private StoreException failure(JdbcLockStore store) {
		return catchThrowableOfType(StoreException.class, () -> acquire(store));
	}

	/**
	 * A pool that is not HikariCP.
	 */
	private static final class OtherPool extends AbstractDataSource {

		private final DataSource database;

		@Nullable SQLException failure;

		OtherPool(DataSource database) {
			this.database = database;
		}

		@Override
		public Connection getConnection() throws SQLException {
			if (this.failure != null) {
				throw this.failure;
			}
			return this.database.getConnection();
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return getConnection();
		}

	}

	/**
	 * Named as that of Tomcat's pool.
	 */
	private static final class PoolExhaustedException extends SQLException {

	}

}
