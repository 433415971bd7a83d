package io.dlock.transaction;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

import javax.sql.DataSource;

import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.OnLost;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.aop.PostProcessors;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.CapturedLog;
import io.dlock.test.ForcedLoss;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locked methods, transactions of H2, and locks in memory.
 */
abstract class AbstractTransactionTests {

	static final String KEY = "counter";

	/**
	 * An asynchronous request that does not wait fails if no thread of the engine serves
	 * it within this time.
	 */
	static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(5);

	static class Work {

		@DistributedLocked("'counter'")
		public void run(Runnable body) {
			body.run();
		}

		@DistributedLocked("'outer'")
		public void outer(Runnable body) {
			body.run();
		}

		@DistributedLocked("'counter'")
		public void other(Runnable body) {
			body.run();
		}

		@DistributedLocked(key = "'counter'", onLost = OnLost.IGNORE)
		public void runCarelessly(Runnable body) {
			body.run();
		}

		@DistributedLocked("'counter'")
		@Transactional
		public void runInTransaction(Runnable body) {
			body.run();
		}

		@DistributedLocked("'counter'")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void runInNewTransaction(Runnable body) {
			body.run();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true)
	static class Config {

	}

	final JdbcDataSource dataSource = new JdbcDataSource();

	final MemoryLockStore store = new MemoryLockStore();

	final LeaseLockRegistry registry;

	final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	final DataSourceTransactionManager transactions = new DataSourceTransactionManager(this.dataSource) {

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			AbstractTransactionTests.this.duringCommit.run();
			super.doCommit(status);
			if (AbstractTransactionTests.this.failingCommit) {
				throw new TransactionSystemException("the outcome of this commit is unknown");
			}
		}

	};

	final CapturedLog log = CapturedLog.of("io.dlock.transaction");

	boolean failingCommit;

	Runnable duringCommit = () -> {
	};

	JdbcClient jdbc;

	AbstractTransactionTests() {
		this(COMMAND_TIMEOUT);
	}

	/**
	 * Create a registry for leases that are short.
	 * @param commandTimeout at most a quarter of each lease that is renewed
	 */
	AbstractTransactionTests(Duration commandTimeout) {
		this.registry = new LeaseLockRegistry(this.store,
				LockSettings.builder()
					.commandTimeout(commandTimeout)
					.waitTime(Duration.ZERO)
					.shutdownTimeout(Duration.ZERO)
					.build());
	}

	Work start(Consumer<DistributedLockedBeanPostProcessor> settings) {
		this.dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		this.jdbc = JdbcClient.create(this.dataSource);
		this.jdbc.sql("create table entry (id int)").update();
		DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(() -> this.registry);
		settings.accept(postProcessor);
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
		this.context.registerBean(LockRegistry.class, () -> this.registry);
		this.context.registerBean(DataSource.class, () -> this.dataSource);
		this.context.registerBean(PlatformTransactionManager.class, () -> this.transactions);
		this.context.registerBean(Work.class);
		this.context.register(Config.class);
		this.context.refresh();
		return this.context.getBean(Work.class);
	}

	Work start() {
		return start((postProcessor) -> {
		});
	}

	@AfterEach
	void close() {
		this.log.close();
		this.context.close();
		this.registry.close();
	}

	TransactionTemplate transaction(int propagation) {
		TransactionTemplate template = new TransactionTemplate(this.transactions);
		template.setPropagationBehavior(propagation);
		return template;
	}

	void inTransaction(Runnable body) {
		transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> body.run());
	}

	void inNewTransaction(Runnable body) {
		transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW).executeWithoutResult((status) -> body.run());
	}

	void insert() {
		this.jdbc.sql("insert into entry values (1)").update();
	}

	int entries() {
		return this.jdbc.sql("select count(*) from entry").query(Integer.class).single();
	}

	boolean isHeld() {
		return this.registry.find(KEY).isPresent();
	}

	void loseLock() {
		ForcedLoss.ofCurrent(this.registry);
	}

	List<String> warnings() {
		return this.log.messages();
	}

	void nothingIsLeft() {
		assertThat(isHeld()).isFalse();
		assertThat(LockHandle.current()).isEmpty();
	}

}
