package io.dlock.autoconfigure;

import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.DistributedLocked;
import io.dlock.console.ForcedRelease;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.autoconfigure.jdbc.DlockDataSource;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.transaction.CommitGuard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * {@code dlock.transaction.*}.
 */
class TransactionConfigurationTests {

	static class Work {

		private final JdbcClient jdbc;

		Work(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLocked("'work'")
		@Transactional
		public void transactional(Runnable body) {
			insert();
			body.run();
		}

		@DistributedLocked("'work'")
		@Transactional(readOnly = true)
		public int readOnly(Runnable body) {
			body.run();
			return entries();
		}

		@DistributedLocked("'work'")
		public void locked() {
			insert();
		}

		private void insert() {
			this.jdbc.sql("insert into entry values (1)").update();
		}

		public int entries() {
			return this.jdbc.sql("select count(*) from entry").query(Integer.class).single();
		}

	}

	private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	private final JdbcClient outside = JdbcClient.create(dataSource());

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class,
				DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
				JdbcTemplateAutoConfiguration.class, JdbcClientAutoConfiguration.class,
				TransactionAutoConfiguration.class, TransactionManagerCustomizationAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=" + this.url, "dlock.command-timeout=5s")
		.withBean(Work.class);

	private DataSource dataSource() {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL(this.url);
		dataSource.setUser("sa");
		return dataSource;
	}

	TransactionConfigurationTests() {
		this.outside.sql("create table entry (id int)").update();
	}

	/**
	 * Gives the row to another owner without the knowledge of the holder.
	 */
	private void takeAway() {
		assertThat(this.outside.sql("update dlock_lock set owner = 'another owner' where lock_key = 'work'").update())
			.isOne();
	}

	private static void inTransaction(AssertableApplicationContext context, Runnable body) {
		context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> body.run());
	}

	private static FailureAnalyzedException failure(AssertableApplicationContext context) {
		assertThat(context).hasFailed();
		for (Throwable cause = context.getStartupFailure(); cause != null; cause = cause.getCause()) {
			if (cause instanceof FailureAnalyzedException analyzed) {
				return analyzed;
			}
		}
		throw new AssertionError("not analyzed", context.getStartupFailure());
	}

	@ParameterizedTest
	@ValueSource(strings = { "validity", "row" })
	void guardOfTheApplicationIsAskedBeforeTheCommit(String check) {
		this.runner.withPropertyValues("dlock.transaction.commit-check=" + check)
			.withBean("strict", CommitGuard.class, () -> (transaction, lock) -> {
				throw new LockLostException(lock.key(), lock.token(), "refused by the guard");
			})
			.run((context) -> {
				Work work = context.getBean(Work.class);
				assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> work.transactional(() -> {
				})).withMessageContaining("refused by the guard");
				assertThat(work.entries()).isZero();
			});
	}

	@Test
	void lockOutlastsTheTransactionAroundItByDefault() {
		this.runner.run((context) -> {
			inTransaction(context, () -> {
				context.getBean(Work.class).locked();
				assertThat(context.getBean(LockRegistry.class).find("work")).isPresent();
			});
			assertThat(context.getBean(LockRegistry.class).find("work")).isEmpty();
		});
	}

	@Test
	void methodInATransactionFailsIfConfigured() {
		this.runner.withPropertyValues("dlock.transaction.inside=fail").run((context) -> {
			inTransaction(context, () -> assertThatExceptionOfType(IllegalTransactionStateException.class)
				.isThrownBy(() -> context.getBean(Work.class).locked()));
			context.getBean(Work.class).transactional(() -> {
			});
		});
	}

	@Test
	void transactionAroundTheLockIsIgnoredIfConfigured() {
		this.runner.withPropertyValues("dlock.transaction.inside=ignore")
			.run((context) -> inTransaction(context, () -> {
				context.getBean(Work.class).locked();
				assertThat(LockHandle.current()).isEmpty();
			}));
	}

	@ParameterizedTest
	@ValueSource(strings = { "dlock.transaction.inside=maybe", "dlock.transaction.commit-check=column" })
	void unknownValueIsAnError(String property) {
		this.runner.withPropertyValues(property)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining(property.substring(property.indexOf('=') + 1)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "validity", "off" })
	void withoutTheRowTheDatabaseIsNotAskedBeforeTheCommit(String check) {
		this.runner.withPropertyValues("dlock.transaction.commit-check=" + check).run((context) -> {
			Work work = context.getBean(Work.class);
			work.transactional(this::takeAway);
			assertThat(work.entries()).isOne();
		});
	}

	/**
	 * The holder knows of the loss.
	 */
	@ParameterizedTest
	@CsvSource({ "validity, 0", "off, 1" })
	void lostLockRollsBackUnlessNothingIsChecked(String check, int entries) {
		this.runner.withPropertyValues("dlock.transaction.commit-check=" + check).run((context) -> {
			Work work = context.getBean(Work.class);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> work.transactional(() -> {
				LockHandle held = LockHandle.current().orElseThrow();
				assertThat(context.getBean(LeaseLockRegistry.class).console().forceRelease("work", held.token()))
					.isEqualTo(ForcedRelease.RELEASED);
			}));
			assertThat(work.entries()).isEqualTo(entries);
		});
	}

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
