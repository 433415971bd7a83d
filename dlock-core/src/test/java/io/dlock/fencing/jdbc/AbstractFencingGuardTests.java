package io.dlock.fencing.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.fencing.StaleTokenException;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.DocsPage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The writes that the guard of every database refuses, and those that it lets pass.
 */
@Timeout(120)
abstract class AbstractFencingGuardTests {

	/** Of the order of real ones, beyond what a double holds exactly. */
	private static final long TOKEN = 1_838_344_036_591_874_049L;

	private final String resource = "orders/" + UUID.randomUUID();

	private HikariDataSource pool;

	private FencingGuard guard;

	private JdbcClient jdbc;

	private TransactionTemplate transaction;

	private final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());

	abstract String url();

	abstract String username();

	abstract String password();

	abstract String schema();

	/**
	 * A part of the line of {@code docs/fencing.md} that removes old rows.
	 */
	abstract String cleanUp();

	@BeforeEach
	void createTables() {
		this.pool = new HikariDataSource();
		this.pool.setJdbcUrl(url());
		this.pool.setUsername(username());
		this.pool.setPassword(password());
		this.pool.setMaximumPoolSize(10);
		new ResourceDatabasePopulator(new ClassPathResource(schema(), FencingGuard.class)).execute(this.pool);
		this.guard = new FencingGuard(this.pool);
		this.jdbc = JdbcClient.create(this.pool);
		this.transaction = new TransactionTemplate(new DataSourceTransactionManager(this.pool));
		this.jdbc.sql("CREATE TABLE IF NOT EXISTS fenced_data (id VARCHAR(100) PRIMARY KEY, fence BIGINT NOT NULL)")
			.update();
	}

	@AfterEach
	void close() {
		this.registry.close();
		this.pool.close();
	}

	private void check(long token) {
		this.transaction.executeWithoutResult((status) -> this.guard.check(this.resource, token));
	}

	private void refused(long token, long newest) {
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> check(token)).satisfies((ex) -> {
			assertThat(ex.resource()).isEqualTo(this.resource);
			assertThat(ex.token()).isEqualTo(token);
			assertThat(ex.newestToken()).isEqualTo(newest);
			assertThat(ex).hasMessageContaining(this.resource)
				.hasMessageContaining(Long.toString(token))
				.hasMessageContaining(Long.toString(newest))
				.hasMessageContaining("Roll back");
		});
	}

	@Test
	void r15StaleTokenIsRefused() {
		check(TOKEN);
		check(TOKEN + 1);
		refused(TOKEN, TOKEN + 1);
		refused(1, TOKEN + 1);
		check(TOKEN + 2);
		refused(TOKEN + 1, TOKEN + 2);
	}

	@Test
	void equalTokenIsAcceptedBecauseAHolderWritesAsOftenAsItWants() {
		check(TOKEN);
		check(TOKEN);
		this.transaction.executeWithoutResult((status) -> {
			this.guard.check(this.resource, TOKEN);
			this.guard.check(this.resource, TOKEN);
		});
		refused(TOKEN - 1, TOKEN);
	}

	@Test
	void rollbackGivesTheFenceBack() {
		this.transaction.executeWithoutResult((status) -> {
			this.guard.check(this.resource, TOKEN + 9);
			status.setRollbackOnly();
		});
		check(TOKEN);
		this.transaction.executeWithoutResult((status) -> {
			this.guard.check(this.resource, TOKEN + 9);
			status.setRollbackOnly();
		});
		check(TOKEN + 1);
		refused(TOKEN, TOKEN + 1);
	}

	@Test
	void rollbackToASavepointGivesTheFenceBack() {
		TransactionTemplate nested = new TransactionTemplate(this.transaction.getTransactionManager());
		nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		this.transaction.executeWithoutResult((status) -> {
			this.guard.check(this.resource, TOKEN);
			nested.executeWithoutResult((savepoint) -> {
				this.guard.check(this.resource, TOKEN + 9);
				savepoint.setRollbackOnly();
			});
		});
		check(TOKEN + 1);
	}

	@Test
	void tokenOfTheCurrentLockIsCheckedAndItsKeyIsTheResource() {
		long token = this.registry.execute(LockRequest.of(this.resource), (handle) -> {
			this.transaction.executeWithoutResult((status) -> {
				this.guard.check();
				this.guard.check("another " + this.resource);
			});
			return handle.token();
		});
		refused(token - 1, token);
		check(token + 1);
		this.registry.execute(LockRequest.of(this.resource), (handle) -> {
			check(Long.MAX_VALUE);
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check()))
				.satisfies((ex) -> assertThat(ex.token()).isEqualTo(handle.token()));
			return null;
		});
	}

	@Test
	void tokenOfTheInnermostLockIsChecked() {
		this.registry.execute(LockRequest.of("outer"),
				(outer) -> this.registry.execute(LockRequest.of("inner"), (inner) -> {
					this.transaction.executeWithoutResult((status) -> this.guard.check(this.resource));
					refused(inner.token() - 1, inner.token());
					return null;
				}));
	}

	/**
	 * The row is locked by the check: no other transaction writes between it and the
	 * commit.
	 */
	@Test
	void laterHolderWaitsUntilTheEarlierOneHasCommitted() throws Exception {
		check(TOKEN);
		CompletableFuture<Void> later = this.transaction.execute((status) -> {
			this.guard.check(this.resource, TOKEN + 1);
			CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> check(TOKEN + 2));
			awaitBlocked(waiting);
			return waiting;
		});
		later.get();
		refused(TOKEN + 1, TOKEN + 2);
	}

	@Test
	void staleHolderWaitsAndIsRefusedOnceTheLaterOneHasCommitted() {
		check(TOKEN);
		CompletableFuture<Throwable> stale = this.transaction.execute((status) -> {
			this.guard.check(this.resource, TOKEN + 2);
			CompletableFuture<Throwable> waiting = CompletableFuture
				.supplyAsync(() -> catchThrowable(() -> check(TOKEN + 1)));
			awaitBlocked(waiting);
			return waiting;
		});
		assertThat(stale.join()).isInstanceOf(StaleTokenException.class);
	}

	@Test
	void staleHolderThatWaitsMayWriteIfTheLaterOneRollsBack() throws Exception {
		check(TOKEN);
		CompletableFuture<Void> stale = this.transaction.execute((status) -> {
			this.guard.check(this.resource, TOKEN + 2);
			CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> check(TOKEN + 1));
			awaitBlocked(waiting);
			status.setRollbackOnly();
			return waiting;
		});
		stale.get();
		refused(TOKEN, TOKEN + 1);
	}

	private static void awaitBlocked(CompletableFuture<?> waiting) {
		Awaitility.await().during(Duration.ofMillis(300)).atMost(Duration.ofSeconds(5)).until(() -> !waiting.isDone());
	}

	/**
	 * The first statement of the transaction has taken the snapshot: the successor's
	 * commit is not in it.
	 */
	@ParameterizedTest
	@ValueSource(ints = { TransactionDefinition.ISOLATION_READ_COMMITTED,
			TransactionDefinition.ISOLATION_REPEATABLE_READ, TransactionDefinition.ISOLATION_SERIALIZABLE })
	void staleTokenIsRefusedHoweverOldTheSnapshotIs(int isolation) {
		check(TOKEN);
		TransactionTemplate isolated = new TransactionTemplate(this.transaction.getTransactionManager());
		isolated.setIsolationLevel(isolation);
		boolean blocking = url().startsWith("jdbc:m") && isolation == TransactionDefinition.ISOLATION_SERIALIZABLE;
		Throwable failure = catchThrowable(() -> isolated.executeWithoutResult((status) -> {
			this.jdbc.sql("SELECT COUNT(*) FROM " + (blocking ? "fenced_data" : "dlock_fence"))
				.query(Long.class)
				.single();
			CompletableFuture.runAsync(() -> check(TOKEN + 1)).join();
			this.guard.check(this.resource, TOKEN);
		}));
		assertThat(failure).isInstanceOfAny(StaleTokenException.class, ConcurrencyFailureException.class);
		check(TOKEN + 1);
	}

	/**
	 * First checks of a resource collide; whatever comes out of that, the writes are in
	 * the order of the tokens.
	 */
	@Test
	void i2WritesOfConcurrentHoldersAreInTheOrderOfTheirTokens() throws Exception {
		int writers = 8;
		int accepted = 0;
		ExecutorService threads = Executors.newFixedThreadPool(writers);
		try {
			for (int round = 0; round < 60; round++) {
				String id = this.resource + "/" + round;
				this.jdbc.sql("INSERT INTO fenced_data (id, fence) VALUES (?, 0)").param(id).update();
				CyclicBarrier barrier = new CyclicBarrier(writers);
				List<Future<Boolean>> writes = new ArrayList<>();
				LongStream.rangeClosed(1, writers).forEach((token) -> writes.add(threads.submit(() -> {
					barrier.await();
					return write(id, TOKEN + token);
				})));
				boolean newest = false;
				for (Future<Boolean> write : writes) {
					newest = write.get();
					accepted += newest ? 1 : 0;
				}
				assertThat(newest).as("the newest is never refused").isTrue();
				assertThat(fenceOfData(id)).isEqualTo(TOKEN + writers);
			}
		}
		finally {
			threads.shutdown();
		}
		assertThat(accepted).isGreaterThanOrEqualTo(60);
	}

	private boolean write(String id, long token) {
		while (true) {
			try {
				this.transaction.executeWithoutResult((status) -> {
					this.guard.check(id, token);
					assertThat(fenceOfData(id)).as("what is overwritten").isLessThan(token);
					this.jdbc.sql("UPDATE fenced_data SET fence = ? WHERE id = ?").param(token).param(id).update();
				});
				return true;
			}
			catch (StaleTokenException ex) {
				return false;
			}
			catch (ConcurrencyFailureException ex) {
				// a deadlock, which the database ended by a rollback: again
			}
		}
	}

	private long fenceOfData(String id) {
		return this.jdbc.sql("SELECT fence FROM fenced_data WHERE id = ?").param(id).query(Long.class).single();
	}

	/**
	 * The way without a guard, as documented.
	 */
	@Test
	void tokenBesideTheDataRefusesAStaleWriteAsWell() {
		this.jdbc.sql("INSERT INTO fenced_data (id, fence) VALUES (?, 0)").param(this.resource).update();
		assertThat(updateBeside(TOKEN)).isEqualTo(1);
		assertThat(updateBeside(TOKEN + 1)).isEqualTo(1);
		assertThat(updateBeside(TOKEN)).isZero();
		assertThat(fenceOfData(this.resource)).isEqualTo(TOKEN + 1);
	}

	private int updateBeside(long token) {
		return this.jdbc.sql("UPDATE fenced_data SET fence = :token WHERE id = :id AND fence <= :token")
			.param("token", token)
			.param("id", this.resource)
			.update();
	}

	@Test
	void namesThatLookAlikeAreDifferentResources() {
		String ten = "k".repeat(10_000);
		List<String> names = List.of("a", "A", "á", "a\u0301", "a ", " a", "a\t", "a\n", "a%20",
				"a'; DROP TABLE dlock_fence; --", "a\u0000", "\uD83D\uDD12", "\uD83D", "\uDD12", "?", "{a}", "ß", "ss",
				ten, ten + " ", ten + "k");
		String prefix = this.resource;
		this.transaction.executeWithoutResult((status) -> {
			for (int i = 0; i < names.size(); i++) {
				this.guard.check(prefix + names.get(i), TOKEN + names.size() - i);
			}
		});
		for (int i = 0; i < names.size(); i++) {
			String name = prefix + names.get(i);
			long token = TOKEN + names.size() - i;
			this.transaction.executeWithoutResult((status) -> this.guard.check(name, token));
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check(name, token - 1)))
				.satisfies((ex) -> assertThat(ex.resource()).isEqualTo(name))
				.satisfies(
						(ex) -> assertThat(ex.getMessage()).hasSizeLessThan(600).doesNotContainPattern("\\p{Cntrl}"));
			assertThatIllegalStateException().isThrownBy(() -> this.guard.check(name, token))
				.satisfies(
						(ex) -> assertThat(ex.getMessage()).hasSizeLessThan(600).doesNotContainPattern("\\p{Cntrl}"));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\n\t" })
	void resourceWithoutANameIsRefused(String name) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check(name, TOKEN)));
	}

	@Test
	void senselessArgumentsAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> check(0)).withMessageContaining("positive");
		assertThatIllegalArgumentException().isThrownBy(() -> check(-1));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check(null, TOKEN)));
		assertThatIllegalArgumentException().isThrownBy(() -> new FencingGuard(this.pool, "fence; DROP TABLE orders"));
	}

	@Test
	void checkOutsideAnyLockIsAnErrorThatSaysSo() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check(this.resource)))
			.withMessageContaining("no lock")
			.withMessageContaining("@DistributedLocked");
		assertThatIllegalStateException()
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check()));
	}

	@Test
	void checkOutsideAnyTransactionIsAnErrorThatSaysSo() {
		assertThatIllegalStateException().isThrownBy(() -> this.guard.check(this.resource, TOKEN))
			.withMessageContaining(this.resource)
			.withMessageContaining("@Transactional");
		check(1);
	}

	@Test
	void checkInATransactionOfAnotherDatabaseIsAnErrorThatSaysSo() {
		SimpleDriverDataSource other = new SimpleDriverDataSource(new org.h2.Driver(), "jdbc:h2:mem:");
		TransactionTemplate transactionOfOther = new TransactionTemplate(new DataSourceTransactionManager(other));
		assertThatIllegalStateException()
			.isThrownBy(
					() -> transactionOfOther.executeWithoutResult((status) -> this.guard.check(this.resource, TOKEN)))
			.withMessageContaining("none on this database");
		check(1);
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).as("connections not given back").isZero();
	}

	/**
	 * Such a connection looks as if it were in a transaction, and would be rolled back.
	 */
	@Test
	void transactionOfAnotherDatabaseIsNoticedThoughNoConnectionIsInAutoCommitMode() {
		this.pool.close();
		this.pool = manualPool();
		FencingGuard onManual = new FencingGuard(this.pool);
		SimpleDriverDataSource other = new SimpleDriverDataSource(new org.h2.Driver(), "jdbc:h2:mem:");
		TransactionTemplate transactionOfOther = new TransactionTemplate(new DataSourceTransactionManager(other));
		transactionOfOther.executeWithoutResult((status) -> {
			refusedWithoutTransaction(onManual);
			JdbcClient.create(this.pool).sql("SELECT 1").query(Integer.class).single();
			refusedWithoutTransaction(onManual);
		});
		TransactionTemplate own = new TransactionTemplate(new DataSourceTransactionManager(this.pool));
		own.executeWithoutResult((status) -> onManual.check(this.resource, TOKEN));
		transactionOfOther.executeWithoutResult(
				(status) -> own.executeWithoutResult((nested) -> onManual.check(this.resource, TOKEN + 1)));
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> own.executeWithoutResult((status) -> onManual.check(this.resource, TOKEN)));
	}

	private HikariDataSource manualPool() {
		HikariDataSource manual = new HikariDataSource();
		manual.setJdbcUrl(url());
		manual.setUsername(username());
		manual.setPassword(password());
		manual.setAutoCommit(false);
		return manual;
	}

	private void refusedWithoutTransaction(FencingGuard unprotected) {
		assertThatIllegalStateException().isThrownBy(() -> unprotected.check(this.resource, TOKEN))
			.withMessageContaining("none on this database");
	}

	/**
	 * JPA and Hibernate do so.
	 */
	@Test
	void checkTakesPartInATransactionThatLendsItsConnection() {
		TransactionTemplate lending = new TransactionTemplate(new LendingTransactionManager(this.pool));
		lending.executeWithoutResult((status) -> this.guard.check(this.resource, TOKEN + 1));
		lending.executeWithoutResult((status) -> {
			this.guard.check(this.resource, TOKEN + 9);
			status.setRollbackOnly();
		});
		check(TOKEN + 1);
		refused(TOKEN, TOKEN + 1);
		SimpleDriverDataSource other = new SimpleDriverDataSource(new org.h2.Driver(), "jdbc:h2:mem:");
		try (HikariDataSource manual = manualPool()) {
			new TransactionTemplate(new LendingTransactionManager(other))
				.executeWithoutResult((status) -> refusedWithoutTransaction(new FencingGuard(manual)));
		}
	}

	/**
	 * JTA binds no connection; the pool hands out those of the transaction.
	 */
	@Test
	void checkTakesPartInATransactionThatBindsNoConnection() {
		try (HikariDataSource manual = manualPool()) {
			FencingGuard onManual = new FencingGuard(manual);
			TransactionTemplate unbound = new TransactionTemplate(new LendingTransactionManager(null));
			assertThatNoException().isThrownBy(() -> unbound.executeWithoutResult((status) -> {
				onManual.check(this.resource, TOKEN);
				onManual.check(this.resource, TOKEN);
			}));
		}
	}

	@Test
	void checkTakesPartInTheTransactionBehindAProxy() {
		FencingGuard onProxy = new FencingGuard(new TransactionAwareDataSourceProxy(this.pool));
		this.transaction.executeWithoutResult((status) -> {
			onProxy.check(this.resource, TOKEN + 9);
			status.setRollbackOnly();
		});
		check(TOKEN);
	}

	@Test
	void missingTableIsAnErrorThatSaysWhatToDo() {
		FencingGuard elsewhere = new FencingGuard(this.pool, "missing_fence");
		assertThatIllegalStateException()
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> elsewhere.check(this.resource, TOKEN)))
			.withMessageContaining("missing_fence")
			.withMessageContaining("schema-")
			.withMessageContaining("initialize-schema");
	}

	@Test
	void handleOfNoThreadIsCheckedByItsToken() throws Exception {
		try (LockHandle handle = this.registry.acquireAsync(LockRequest.of(this.resource)).get()) {
			assertThatIllegalStateException()
				.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.guard.check()));
			assertThatNoException().isThrownBy(() -> check(handle.token()));
		}
	}

	@Test
	void rowsOfLongAgoCanBeToldByTheirTokens() {
		String cleanUp = DocsPage.of("fencing.md")
			.lines("DELETE FROM dlock_fence")
			.stream()
			.filter((line) -> line.contains(cleanUp()))
			.findFirst()
			.orElseThrow();
		long weekAgo = (System.currentTimeMillis() - Duration.ofDays(7).toMillis()) * 1000 * 1024;
		long minute = Duration.ofMinutes(1).toNanos() / 1000 * 1024;
		check(weekAgo + minute);
		this.jdbc.sql(cleanUp.replace(";", "")).update();
		refused(weekAgo, weekAgo + minute);
		this.transaction.executeWithoutResult((status) -> this.guard.check("old " + this.resource, weekAgo - minute));
		this.jdbc.sql(cleanUp.replace(";", "")).update();
		this.transaction.executeWithoutResult((status) -> this.guard.check("old " + this.resource, 1));
		long now = this.registry.execute(LockRequest.of(this.resource), LockHandle::token);
		assertThat(now).as("a token of now")
			.isBetween(weekAgo + 7 * 1440 * minute - minute, weekAgo + 7 * 1440 * minute + minute);
	}

	@Test
	void guardLeavesTheConnectionAsItWas() throws Exception {
		check(TOKEN);
		try (Connection connection = this.pool.getConnection()) {
			assertThat(connection.getAutoCommit()).isTrue();
		}
	}

	/**
	 * Binds the connection of its transactions as a transaction manager of an object
	 * mapper does, or nothing.
	 */
	private static final class LendingTransactionManager extends AbstractPlatformTransactionManager {

		private final DataSource dataSource;

		LendingTransactionManager(DataSource dataSource) {
			this.dataSource = dataSource;
		}

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			if (this.dataSource == null) {
				return;
			}
			try {
				Connection connection = this.dataSource.getConnection();
				connection.setAutoCommit(false);
				TransactionSynchronizationManager.bindResource(this.dataSource, new ConnectionHolder(connection));
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			end(Connection::commit);
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
			end(Connection::rollback);
		}

		private void end(SqlAction action) {
			if (this.dataSource == null) {
				return;
			}
			ConnectionHolder holder = (ConnectionHolder) TransactionSynchronizationManager
				.unbindResource(this.dataSource);
			try (Connection connection = holder.getConnection()) {
				action.on(connection);
				connection.setAutoCommit(true);
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	@FunctionalInterface
	private interface SqlAction {

		void on(Connection connection) throws SQLException;

	}

}
