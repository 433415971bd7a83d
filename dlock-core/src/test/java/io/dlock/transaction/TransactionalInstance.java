package io.dlock.transaction;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockSettings;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.TestDatabase;

/**
 * An instance of an application that counts in a table, with its locks in the same
 * database.
 */
final class TransactionalInstance implements AutoCloseable {

	/**
	 * Adds one to a counter as careless code does: it reads, computes, and writes.
	 */
	static class Counter {

		private final JdbcClient jdbc;

		Counter(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLocked(key = "#id", waitTime = "60s")
		@Transactional
		public void addInItsOwnTransaction(String id) {
			add(id);
		}

		@DistributedLocked(keys = "#ids", waitTime = "60s")
		@Transactional
		public void addToAll(List<String> ids) {
			ids.forEach(this::add);
		}

		@DistributedLocked(key = "#id", waitTime = "60s")
		public void addLocked(String id, Runnable afterRead) {
			int value = read(id);
			afterRead.run();
			write(id, value + 1);
		}

		@DistributedLocked(key = "#id", waitTime = "0s")
		public void addUnlessBusy(String id) {
			add(id);
		}

		@DistributedLocked(key = "#id", waitTime = "60s")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void addInANewTransaction(String id) {
			add(id);
		}

		@DistributedLocked(key = "#id", waitTime = "60s")
		public CompletableFuture<Integer> readLater(String id) {
			return CompletableFuture.completedFuture(read(id));
		}

		@Async
		@Transactional
		@DistributedLocked(key = "#id", waitTime = "60s")
		public void addLater(String id, CountDownLatch done) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCompletion(int status) {
					done.countDown();
				}

			});
			LockHandle.current().orElseThrow().assertHeld();
			add(id);
		}

		private void add(String id) {
			write(id, read(id) + 1);
		}

		public int read(String id) {
			return this.jdbc.sql("select value from counter where id = ?").param(id).query(Integer.class).single();
		}

		private void write(String id, int value) {
			this.jdbc.sql("update counter set value = ? where id = ?").params(value, id).update();
		}

	}

	/**
	 * Calls locked methods in transactions.
	 */
	static class Service {

		private final Counter counter;

		private final JdbcClient jdbc;

		Service(Counter counter, JdbcClient jdbc) {
			this.counter = counter;
			this.jdbc = jdbc;
		}

		@Transactional
		public void addWhatWasReadByAStage(String id) {
			int value = this.counter.readLater(id).join();
			this.jdbc.sql("update counter set value = ? where id = ?").params(value + 1, id).update();
		}

		@Transactional
		public void addInsideATransaction(String id) {
			this.counter.addLocked(id, () -> {
			});
			// the transaction has other things to do
			this.jdbc.sql("select count(*) from counter").query(Integer.class).single();
		}

		@Transactional
		public void addInANewTransaction(String id) {
			this.jdbc.sql("select count(*) from counter").query(Integer.class).single();
			this.counter.addInANewTransaction(id);
			this.jdbc.sql("select count(*) from counter").query(Integer.class).single();
		}

		@Transactional
		public void inTransaction(Consumer<Counter> body) {
			body.accept(this.counter);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true)
	@EnableAsync(proxyTargetClass = true)
	static class Config {

	}

	static List<TestDatabase> databases() {
		return List.of(TestDatabase.postgreSql(), TestDatabase.mariaDb());
	}

	private static HikariDataSource pool(TestDatabase database) {
		HikariDataSource pool = database.pool();
		// two for each thread
		pool.setMaximumPoolSize(16);
		return pool;
	}

	static void createTables(TestDatabase database) {
		try (HikariDataSource pool = pool(database)) {
			Pools.createLockTable(pool, database.platform());
			JdbcClient.create(pool)
				.sql("create table if not exists counter (id varchar(100) primary key, value int not null)")
				.update();
		}
	}

	private final HikariDataSource pool;

	private final JdbcLockStore store;

	private final LeaseLockRegistry registry;

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	TransactionalInstance(TestDatabase database, Duration lease,
			Consumer<DistributedLockedBeanPostProcessor> settings) {
		this(database, lease, (instance, postProcessor) -> settings.accept(postProcessor));
	}

	TransactionalInstance(TestDatabase database, Duration lease, Customizer customizer) {
		this.pool = pool(database);
		LockSettings settings = LockSettings.builder()
			.lease(lease)
			.commandTimeout(lease.dividedBy(4))
			.shutdownTimeout(Duration.ZERO)
			.build();
		this.store = Patience.connected(new JdbcLockStore(this.pool,
				JdbcLockStoreSettings.defaults().withCommandTimeout(Duration.ofSeconds(3))));
		this.registry = new LeaseLockRegistry(this.store, settings);
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> {
			DistributedLockedBeanPostProcessor postProcessor = new DistributedLockedBeanPostProcessor(
					() -> this.registry);
			postProcessor.setProxyTargetClass(true);
			customizer.customize(this, postProcessor);
			return postProcessor;
		});
		this.context.registerBean(DataSource.class, () -> this.pool);
		this.context.registerBean(JdbcClient.class, () -> JdbcClient.create(this.pool));
		this.context.registerBean(PlatformTransactionManager.class, () -> new DataSourceTransactionManager(this.pool));
		this.context.registerBean(Counter.class);
		this.context.registerBean(Service.class);
		this.context.register(Config.class);
		this.context.refresh();
	}

	Counter counter() {
		return this.context.getBean(Counter.class);
	}

	Service service() {
		return this.context.getBean(Service.class);
	}

	DataSourceTransactionManager transactions() {
		return this.context.getBean(DataSourceTransactionManager.class);
	}

	LeaseLockRegistry registry() {
		return this.registry;
	}

	JdbcLockStore store() {
		return this.store;
	}

	void create(String id) {
		JdbcClient.create(this.pool).sql("insert into counter values (?, 0)").param(id).update();
	}

	int value(String id) {
		return JdbcClient.create(this.pool)
			.sql("select value from counter where id = ?")
			.param(id)
			.query(Integer.class)
			.single();
	}

	/**
	 * Lock the row of each lock in the transaction that commits, as
	 * {@code dlock.transaction.commit-check: row} does.
	 */
	CommitGuard rowGuard() {
		return (transaction, lock) -> this.store.connectionOf(transaction).ifPresent((connection) -> {
			String owner = this.registry.ownerOf(lock).orElseThrow();
			if (!this.store.lockRow(connection, lock.key(), owner)) {
				throw new LockLostException(lock.key(), lock.token(), "its row is not its own");
			}
		});
	}

	@Override
	public void close() {
		this.context.close();
		this.registry.close();
		this.store.close();
		this.pool.close();
	}

	/**
	 * The settings that distinguish an instance.
	 */
	@FunctionalInterface
	interface Customizer {

		void customize(TransactionalInstance instance, DistributedLockedBeanPostProcessor postProcessor);

	}

}
