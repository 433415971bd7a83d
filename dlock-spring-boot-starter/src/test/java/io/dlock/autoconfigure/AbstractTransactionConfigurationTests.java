package io.dlock.autoconfigure;

import java.util.UUID;

import javax.sql.DataSource;

import org.h2.jdbcx.JdbcDataSource;
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
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.DistributedLocked;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application with transactions on the database of its locks.
 */
abstract class AbstractTransactionConfigurationTests {

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

	final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	final JdbcClient outside = JdbcClient.create(dataSource());

	final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class,
				DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
				JdbcTemplateAutoConfiguration.class, JdbcClientAutoConfiguration.class,
				TransactionAutoConfiguration.class, TransactionManagerCustomizationAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=" + this.url, "dlock.command-timeout=5s")
		.withBean(Work.class);

	final DataSource dataSource() {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL(this.url);
		dataSource.setUser("sa");
		return dataSource;
	}

	AbstractTransactionConfigurationTests() {
		this.outside.sql("create table entry (id int)").update();
	}

	/**
	 * Gives the row to another owner without the knowledge of the holder.
	 */
	final void takeAway() {
		assertThat(this.outside.sql("update dlock_lock set owner = 'another owner' where lock_key = 'work'").update())
			.isOne();
	}

	static void inTransaction(AssertableApplicationContext context, Runnable body) {
		context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> body.run());
	}

	static FailureAnalyzedException failure(AssertableApplicationContext context) {
		assertThat(context).hasFailed();
		for (Throwable cause = context.getStartupFailure(); cause != null; cause = cause.getCause()) {
			if (cause instanceof FailureAnalyzedException analyzed) {
				return analyzed;
			}
		}
		throw new AssertionError("not analyzed", context.getStartupFailure());
	}

}
