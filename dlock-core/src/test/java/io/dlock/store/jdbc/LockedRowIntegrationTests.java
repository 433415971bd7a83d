package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * R48: the row of a lock, locked in the caller's transaction.
 */
class LockedRowIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	private final String key = "row/" + UUID.randomUUID();

	static List<TestDatabase> databases() {
		return List.of(TestDatabase.h2(), TestDatabase.postgreSql(), TestDatabase.mariaDb(),
				TestDatabase.mariaDbWithConnectorJ());
	}

	private static HikariDataSource pool(TestDatabase database) {
		HikariDataSource pool = database.pool();
		Pools.createLockTable(pool, database.platform());
		return pool;
	}

	private static JdbcLockStore store(DataSource pool) {
		return new JdbcLockStore(pool, JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND));
	}

	/**
	 * A store whose timeout runs out, since the row is locked.
	 */
	private static JdbcLockStore impatientStore(DataSource pool) {
		return impatientStore(pool, Duration.ofSeconds(1));
	}

	private static JdbcLockStore impatientStore(DataSource pool, Duration timeout) {
		return Patience
			.connected(new JdbcLockStore(pool, JdbcLockStoreSettings.defaults().withCommandTimeout(timeout)));
	}

	private static TransactionTemplate transaction(DataSource dataSource, int isolation) {
		TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(dataSource));
		transaction.setIsolationLevel(isolation);
		return transaction;
	}

	private AcquireResult acquire(JdbcLockStore store, String owner, Duration lease) {
		return store.acquire(new AcquireCommand(this.key, owner, lease, "holder", ""));
	}

	@ParameterizedTest
	@MethodSource("databases")
	void lockedRowIsNotGrantedAfterItsLeaseIsOver(TestDatabase database) {
		try (HikariDataSource pool = pool(database);
				JdbcLockStore store = store(pool);
				JdbcLockStore impatient = impatientStore(pool)) {
			store.verify();
			assertThat(acquire(store, "first", Duration.ofSeconds(3))).isInstanceOf(Granted.class);
			transaction(pool, TransactionDefinition.ISOLATION_DEFAULT).executeWithoutResult((status) -> {
				assertThat(store.lockRow(store.connectionOf(status).orElseThrow(), this.key, "first")).isTrue();
				Awaitility.await().until(() -> store.find(this.key).isEmpty());
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(impatient, "second", LEASE));
			});
			assertThat(acquire(store, "second", LEASE)).isInstanceOf(Granted.class);
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void holdFailsForAnotherOwner(TestDatabase database) {
		try (HikariDataSource pool = pool(database); JdbcLockStore store = store(pool)) {
			TransactionTemplate transaction = transaction(pool, TransactionDefinition.ISOLATION_DEFAULT);
			assertThat(transaction.<Boolean>execute(
					(status) -> store.lockRow(store.connectionOf(status).orElseThrow(), this.key, "another owner")))
				.isFalse();
			acquire(store, "first", Duration.ofMillis(300));
			Awaitility.await().until(() -> store.find(this.key).isEmpty());
			assertThat(transaction.<Boolean>execute(
					(status) -> store.lockRow(store.connectionOf(status).orElseThrow(), this.key, "first")))
				.as("expired")
				.isFalse();
			acquire(store, "second", LEASE);
			assertThat(transaction.<Boolean>execute(
					(status) -> store.lockRow(store.connectionOf(status).orElseThrow(), this.key, "first")))
				.as("held by another owner")
				.isFalse();
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void renewalDoesNotTakeALockedRowForALostLease(TestDatabase database) {
		try (HikariDataSource pool = pool(database);
				JdbcLockStore store = store(pool);
				JdbcLockStore impatient = impatientStore(pool)) {
			acquire(store, "first", LEASE);
			List<RenewCommand> renewal = List.of(new RenewCommand(this.key, "first", LEASE));
			transaction(pool, TransactionDefinition.ISOLATION_DEFAULT).executeWithoutResult((status) -> {
				assertThat(store.lockRow(store.connectionOf(status).orElseThrow(), this.key, "first")).isTrue();
				assertThat(impatient.renew(renewal)).containsExactly(RenewResult.UNKNOWN);
			});
			assertThat(store.renew(renewal)).containsExactly(RenewResult.RENEWED);
			assertThat(store.release(this.key, "first")).isTrue();
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void connectionOfTheCallerStaysAsItWas(TestDatabase database) {
		try (HikariDataSource pool = pool(database); JdbcLockStore store = store(pool)) {
			acquire(store, "first", LEASE);
			transaction(pool, TransactionDefinition.ISOLATION_DEFAULT).executeWithoutResult((status) -> {
				Connection connection = store.connectionOf(status).orElseThrow();
				assertThat(store.lockRow(connection, this.key, "first")).isTrue();
				try (Statement statement = connection.createStatement()) {
					assertThat(statement.getQueryTimeout()).isZero();
				}
				catch (SQLException ex) {
					throw new IllegalStateException(ex);
				}
			});
		}
	}

	/**
	 * A transaction that began before a renewal sees an older row.
	 */
	@ParameterizedTest
	@MethodSource("databases")
	void snapshotIsRefusedOrSeesTheLatestRow(TestDatabase database) {
		try (HikariDataSource pool = pool(database); JdbcLockStore store = store(pool)) {
			acquire(store, "first", LEASE);
			TransactionTemplate transaction = transaction(pool, TransactionDefinition.ISOLATION_REPEATABLE_READ);
			transaction.executeWithoutResult((status) -> {
				Connection connection = DataSourceUtils.getConnection(pool);
				try (Statement statement = connection.createStatement()) {
					statement.executeQuery("SELECT COUNT(*) FROM dlock_lock").close();
				}
				catch (SQLException ex) {
					throw new IllegalStateException(ex);
				}
				CompletableFuture
					.runAsync(() -> assertThat(store.renew(List.of(new RenewCommand(this.key, "first", LEASE))))
						.containsExactly(RenewResult.RENEWED))
					.join();
				if (database.platform().equals("mysql")) {
					assertThat(store.lockRow(connection, this.key, "first")).isTrue();
				}
				else {
					assertThatExceptionOfType(StoreException.class)
						.isThrownBy(() -> store.lockRow(connection, this.key, "first"));
					status.setRollbackOnly();
				}
			});
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void connectionIsThatOfATransactionOnTheSameDataSource(TestDatabase database) {
		try (HikariDataSource pool = pool(database);
				HikariDataSource other = pool(database);
				JdbcLockStore store = store(new TransactionAwareDataSourceProxy(pool))) {
			assertThat(store.isOn(pool)).isTrue();
			assertThat(store.isOn(other)).isFalse();
			TransactionTemplate lazy = transaction(new LazyConnectionDataSourceProxy(pool),
					TransactionDefinition.ISOLATION_DEFAULT);
			lazy.executeWithoutResult((status) -> assertThat(store.connectionOf(status)).isPresent());
			TransactionTemplate transaction = transaction(pool, TransactionDefinition.ISOLATION_DEFAULT);
			TransactionTemplate savepoint = new TransactionTemplate(transaction.getTransactionManager());
			savepoint.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
			transaction.executeWithoutResult((status) -> {
				assertThat(store.connectionOf(status)).containsSame(DataSourceUtils.getConnection(pool));
				savepoint.executeWithoutResult((nested) -> assertThat(store.connectionOf(nested)).isEmpty());
				transaction.executeWithoutResult((joining) -> assertThat(store.connectionOf(joining)).isEmpty());
			});
			transaction(other, TransactionDefinition.ISOLATION_DEFAULT)
				.executeWithoutResult((status) -> assertThat(store.connectionOf(status)).isEmpty());
		}
	}

	/**
	 * PostgreSQL has no limit of its own.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 500, 1000 })
	void rowThatAnotherTransactionHasLockedIsWaitedForWithinTheTimeout(int millis) {
		try (HikariDataSource pool = pool(TestDatabase.postgreSql());
				JdbcLockStore store = store(pool);
				JdbcLockStore impatient = impatientStore(pool, Duration.ofMillis(millis))) {
			acquire(store, "first", LEASE);
			TransactionTemplate transaction = transaction(pool, TransactionDefinition.ISOLATION_DEFAULT);
			transaction.executeWithoutResult((status) -> {
				assertThat(store.lockRow(store.connectionOf(status).orElseThrow(), this.key, "first")).isTrue();
				assertThat(CompletableFuture.supplyAsync(() -> transaction.<Boolean>execute(
						(other) -> impatient.lockRow(impatient.connectionOf(other).orElseThrow(), this.key, "first"))))
					.failsWithin(Patience.EVENTUALLY)
					.withThrowableThat()
					.withCauseInstanceOf(StoreException.class);
			});
		}
	}

}
