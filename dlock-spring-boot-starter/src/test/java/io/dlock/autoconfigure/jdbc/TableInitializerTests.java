package io.dlock.autoconfigure.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.LockRegistry;
import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.fencing.jdbc.FencingGuard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.AdditionalAnswers.delegatesTo;
import static org.mockito.ArgumentMatchers.startsWith;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.mock;

/**
 * Initializers that replace those of the auto-configuration.
 */
class TableInitializerTests {

	private final List<DataSource> initialized = new ArrayList<>();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class,
				DataSourceAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1",
				"dlock.startup-check=false");

	private static List<String> tables(DataSource dataSource) {
		return JdbcClient.create(dataSource)
			.sql("SELECT LOWER(table_name) FROM information_schema.tables WHERE table_schema = 'PUBLIC'")
			.query(String.class)
			.list();
	}

	@Test
	void lockTableInitializerIsReplaceable() {
		this.runner.withBean(LockTableInitializer.class, () -> this.initialized::add).run((context) -> {
			DataSource dataSource = context.getBean(DataSource.class);
			assertThat(this.initialized).containsExactly(dataSource);
			context.getBean(FencingGuard.class);
			assertThat(tables(dataSource)).containsExactly("dlock_fence");
		});
	}

	@Test
	void fenceTableInitializerIsReplaceable() {
		this.runner.withBean(FenceTableInitializer.class, () -> this.initialized::add).run((context) -> {
			DataSource dataSource = context.getBean(DataSource.class);
			assertThat(this.initialized).isEmpty();
			context.getBean(FencingGuard.class);
			assertThat(this.initialized).containsExactly(dataSource);
			assertThat(tables(dataSource)).containsExactly("dlock_lock");
		});
	}

	@ParameterizedTest(name = "with a proxy that takes part in transactions: {0}")
	@ValueSource(booleans = { false, true })
	void tableThatIsNeededFirstInsideATransactionDoesNotCommitIt(boolean aware) {
		this.runner.withConfiguration(AutoConfigurations.of(DataSourceTransactionManagerAutoConfiguration.class))
			.withBean(TransactionAwareDataSources.class, () -> new TransactionAwareDataSources(aware))
			.withPropertyValues("spring.main.lazy-initialization=true")
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> {
				DataSource dataSource = context.getBean(DataSource.class);
				JdbcClient client = JdbcClient.create(dataSource);
				client.sql("CREATE TABLE sale (id INT)").update();
				new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
					.executeWithoutResult((transaction) -> {
						client.sql("INSERT INTO sale VALUES (1)").update();
						context.getBean(LockRegistry.class).acquire("key").release();
						context.getBean(FencingGuard.class);
						transaction.setRollbackOnly();
					});
				assertThat(tables(dataSource)).containsExactlyInAnyOrder("dlock_lock", "dlock_fence", "sale");
				assertThat(client.sql("SELECT COUNT(*) FROM sale").query(Integer.class).single()).isZero();
			});
	}

	/**
	 * Puts two proxies around the data source of the application.
	 */
	private record TransactionAwareDataSources(boolean active) implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String name) {
			return (this.active && bean instanceof DataSource dataSource)
					? new TransactionAwareDataSourceProxy(new TransactionAwareDataSourceProxy(dataSource)) : bean;
		}

	}

	@Test
	void childContextCreatesTheTableOfItsOwnProperties() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class))
			.withPropertyValues("dlock.backend=memory")
			.run((parent) -> this.runner.withParent(parent)
				.withPropertyValues("dlock.jdbc.fence-table=fence_of_child")
				.run((child) -> {
					child.getBean(FencingGuard.class);
					assertThat(tables(child.getBean(DataSource.class))).containsExactly("fence_of_child");
				}));
	}

	@Test
	void tableThatAnotherInstanceCreatesAtTheSameTimeIsNoFailure() {
		RacingDataSource racing = new RacingDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		this.runner.withBean(DataSource.class, () -> racing).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(racing.attempts).hasValue(2);
			assertThat(tables(racing)).containsExactly("dlock_lock");
		});
	}

	/**
	 * Says at the first attempt to create a table what a database says to the second of
	 * two instances.
	 */
	private static final class RacingDataSource extends DriverManagerDataSource {

		private final AtomicInteger attempts = new AtomicInteger();

		RacingDataSource(String url) {
			super(url);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			Connection racing = mock(Connection.class, delegatesTo(connection));
			willAnswer((call) -> racing(connection.createStatement())).given(racing).createStatement();
			return racing;
		}

		private Statement racing(Statement statement) throws SQLException {
			Statement racing = mock(Statement.class, delegatesTo(statement));
			willAnswer((call) -> {
				if (this.attempts.incrementAndGet() == 1) {
					throw new SQLException("duplicate key value violates unique constraint", "23505");
				}
				return statement.execute(call.getArgument(0));
			}).given(racing).execute(startsWith("CREATE TABLE"));
			return racing;
		}

	}

	@Test
	void columnThatTheTableOfAnEarlierVersionLacksIsAdded() {
		this.runner.run((earlier) -> {
			JdbcClient.create(earlier.getBean(DataSource.class))
				.sql("ALTER TABLE dlock_lock DROP COLUMN members")
				.update();
			this.runner.withPropertyValues("dlock.jdbc.initialize-schema=never")
				.run((context) -> assertThat(columns(context.getBean(DataSource.class))).doesNotContain("members"));
			this.runner.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(columns(context.getBean(DataSource.class))).contains("members");
			});
		});
	}

	private static List<String> columns(DataSource dataSource) {
		return JdbcClient.create(dataSource)
			.sql("SELECT LOWER(column_name) FROM information_schema.columns WHERE table_name = 'DLOCK_LOCK'")
			.query(String.class)
			.list();
	}

	@Test
	void initializerIsNotUsedIfTheLocksAreElsewhere() {
		this.runner.withBean(LockTableInitializer.class, () -> this.initialized::add)
			.withPropertyValues("dlock.backend=memory")
			.run((context) -> assertThat(this.initialized).isEmpty());
	}

	@Test
	void startDoesNotDependOnATableThatIsNotChecked() {
		this.runner.withPropertyValues("dlock.jdbc.schema=classpath:no-such-script.sql")
			.run((context) -> assertThat(context).hasNotFailed());
	}

}
