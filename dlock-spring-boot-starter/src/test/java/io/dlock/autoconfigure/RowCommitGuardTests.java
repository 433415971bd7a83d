package io.dlock.autoconfigure;

import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.autoconfigure.jdbc.DlockDataSource;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * {@code dlock.transaction.commit-check=row}.
 */
class RowCommitGuardTests extends AbstractTransactionConfigurationTests {

	@ParameterizedTest
	@ValueSource(strings = { "row", "ROW" })
	void r48RowOfAnotherOwnerRollsBack(String check) {
		this.runner.withPropertyValues("dlock.transaction.commit-check=" + check).run((context) -> {
			Work work = context.getBean(Work.class);
			work.transactional(() -> {
			});
			assertThat(work.entries()).isOne();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> work.transactional(this::takeAway))
				.withMessageContaining("its row says")
				.withMessageContaining("is rolled back")
				.withMessageNotContaining("READ COMMITTED");
			assertThat(work.entries()).isOne();
		});
	}

	@Test
	void r48RowThatCannotBeAskedForRollsBack() {
		this.runner.withPropertyValues("dlock.transaction.commit-check=row").run((context) -> {
			Work work = context.getBean(Work.class);
			assertThatExceptionOfType(LockStoreException.class).isThrownBy(
					() -> work.transactional(() -> this.outside.sql("alter table dlock_lock rename to gone").update()))
				.withMessageContaining("check, before a commit,")
				.withMessageContaining("is rolled back");
			this.outside.sql("alter table gone rename to dlock_lock").update();
			assertThat(work.entries()).isZero();
		});
	}

	@Test
	void readOnlyTransactionDoesNotLockTheRow() {
		this.runner.withPropertyValues("dlock.transaction.commit-check=row")
			.run((context) -> assertThat(context.getBean(Work.class).readOnly(this::takeAway)).isZero());
	}

	@Test
	void transactionOnAnotherDatabaseDoesNotLockTheRow() {
		DataSourceTransactionManager other = new DataSourceTransactionManager(dataSource());
		this.runner.withPropertyValues("dlock.transaction.commit-check=row").run((context) -> {
			context.getAutowireCapableBeanFactory().initializeBean(other, "other");
			try (LockHandle lock = context.getBean(LockRegistry.class).acquire("work")) {
				new TransactionTemplate(other).executeWithoutResult((status) -> takeAway());
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> inTransaction(context, () -> assertThat(lock.isValid()).isTrue()));
			}
		});
	}

	/**
	 * As a listener of an entity does in the flush of JPA. The thread would wait for the
	 * row that it has locked itself.
	 */
	@Test
	void transactionThatBeginsDuringTheCommitDoesNotLockTheRowAgain() {
		this.runner.withPropertyValues("dlock.transaction.commit-check=row")
			.withUserConfiguration(Nesting.class)
			.run((context) -> {
				Work work = context.getBean(Work.class);
				JdbcClient jdbc = context.getBean(JdbcClient.class);
				TransactionTemplate inner = new TransactionTemplate(context.getBean(Nesting.Manager.class));
				inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
				context.getBean(Nesting.Manager.class).onCommit.set(() -> inner
					.executeWithoutResult((status) -> jdbc.sql("insert into entry values (2)").update()));
				work.transactional(() -> {
				});
				assertThat(work.entries()).isEqualTo(2);
				assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> work.transactional(this::takeAway));
			});
	}

	/**
	 * The transaction that failed has locked no row for the next one of its thread.
	 */
	@Test
	void transactionAfterACommitThatFailsLocksTheRowAgain() {
		this.runner.withPropertyValues("dlock.transaction.commit-check=row")
			.withUserConfiguration(Nesting.class)
			.run((context) -> {
				Nesting.Manager manager = context.getBean(Nesting.Manager.class);
				TransactionTemplate transaction = new TransactionTemplate(manager);
				try (LockHandle lock = context.getBean(LockRegistry.class).acquire("work")) {
					assertThat(lock.isValid()).isTrue();
					manager.onCommit.set(() -> {
						throw new IllegalStateException("the commit fails");
					});
					assertThatIllegalStateException().isThrownBy(() -> transaction.executeWithoutResult((status) -> {
					}));
					manager.onCommit.set(() -> {
					});
					takeAway();
					assertThatExceptionOfType(LockLostException.class)
						.isThrownBy(() -> transaction.executeWithoutResult((status) -> {
						}))
						.withMessageContaining("its row says");
				}
			});
	}

	/**
	 * Its row is not locked any more.
	 */
	@Test
	void transactionThatBeginsAfterTheCommitLocksTheRowAgain() {
		this.runner.withPropertyValues("dlock.transaction.commit-check=row").run((context) -> {
			TransactionTemplate inner = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> context.getBean(Work.class).transactional(() -> {
					TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void afterCommit() {
							takeAway();
							inner.executeWithoutResult((status) -> {
							});
						}

					});
				}))
				.withMessageContaining("its row says");
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class Nesting {

		@Bean
		Manager manager(DataSource dataSource) {
			return new Manager(dataSource);
		}

		static class Manager extends JdbcTransactionManager {

			private final AtomicReference<Runnable> onCommit = new AtomicReference<>();

			Manager(DataSource dataSource) {
				super(dataSource);
			}

			@Override
			protected void doCommit(DefaultTransactionStatus status) {
				Runnable nested = this.onCommit.getAndSet(null);
				if (nested != null) {
					nested.run();
				}
				super.doCommit(status);
			}

		}

	}

	/**
	 * The commit of one holder would wait for that of another.
	 */
	@Test
	void commitsUnderPermitsDoNotWaitForEachOther() {
		this.runner.withPropertyValues("dlock.transaction.commit-check=row").run((context) -> {
			LeaseLockRegistry locks = context.getBean(LeaseLockRegistry.class);
			try (LockHandle permit = locks.acquirePermit(LockRequest.of("work"), 2)) {
				inTransaction(context, () -> {
					context.getBean(JdbcClient.class).sql("insert into entry values (1)").update();
					this.outside.sql("delete from dlock_lock").update();
				});
				assertThat(permit.isPermit()).isTrue();
			}
			assertThat(context.getBean(Work.class).entries()).isOne();
		});
	}

	@Test
	void rowNeedsTheLocksInADatabase() {
		this.runner.withPropertyValues("dlock.transaction.commit-check=row", "dlock.backend=memory").run((context) -> {
			assertThat(failure(context).analysis().getDescription())
				.isEqualTo("dlock.transaction.commit-check is 'row', but the locks are not in a database.");
			assertThat(failure(context).analysis().getAction()).contains("dlock.backend=jdbc");
		});
		LockRegistry own = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());
		this.runner.withPropertyValues("dlock.transaction.commit-check=row")
			.withBean("own", LockRegistry.class, () -> own)
			.run((context) -> assertThat(failure(context).analysis().getDescription())
				.contains("the locks are not in a database"));
	}

	@Configuration(proxyBeanMethods = false)
	static class LockDataSource {

		@Bean(defaultCandidate = false)
		@DlockDataSource
		DataSource lockDataSource(Environment environment) {
			JdbcDataSource dataSource = new JdbcDataSource();
			dataSource.setURL(environment.getRequiredProperty("spring.datasource.url"));
			dataSource.setUser("sa");
			return dataSource;
		}

	}

	@Test
	void rowNeedsATransactionManagerOnTheDataSourceOfTheLocks() {
		this.runner.withUserConfiguration(LockDataSource.class)
			.withPropertyValues("dlock.transaction.commit-check=row", "dlock.jdbc.initialize-schema=always")
			.run((context) -> {
				assertThat(failure(context).analysis().getDescription())
					.contains("no transaction manager works on the DataSource of the locks");
				assertThat(failure(context).analysis().getAction()).contains("@DlockDataSource", "validity");
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class LazyTransactions {

		@Bean
		PlatformTransactionManager transactionManager(DataSource dataSource) {
			return new DataSourceTransactionManager(new LazyConnectionDataSourceProxy(dataSource));
		}

	}

	@Test
	void rowFindsTheDataSourceBehindAProxy() {
		this.runner.withUserConfiguration(LazyTransactions.class)
			.withPropertyValues("dlock.transaction.commit-check=row")
			.run((context) -> {
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> context.getBean(Work.class).transactional(this::takeAway))
					.withMessageContaining("its row says");
			});
	}

}
