package io.dlock.autoconfigure.jdbc;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.io.ResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;

import io.dlock.LockRegistry;
import io.dlock.autoconfigure.DlockAutoConfiguration;
import io.dlock.autoconfigure.DlockBackend;
import io.dlock.autoconfigure.DlockConfigurationErrors;
import io.dlock.autoconfigure.DlockProperties;
import io.dlock.autoconfigure.LockStoreCandidate;
import io.dlock.fencing.jdbc.FencingGuard;
import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.store.jdbc.dialect.LockTableUpgrade;

/**
 * Auto-configuration of locks in a database, and of fences in the database of the
 * application.
 *
 * @since 0.1
 */
@AutoConfiguration(before = DlockAutoConfiguration.class,
		afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnClass({ DataSource.class, DataSourceScriptDatabaseInitializer.class, JdbcTemplate.class })
@EnableConfigurationProperties({ DlockProperties.class, DlockJdbcProperties.class })
public final class DlockJdbcAutoConfiguration {

	@Bean
	@Conditional(OnLockDataSourceCondition.class)
	@ConditionalOnMissingBean(LockRegistry.class)
	LockStoreCandidate<DataSource> jdbcLockStoreCandidate(ObjectProvider<DataSource> dataSource,
			@DlockDataSource ObjectProvider<DataSource> lockDataSource, DlockProperties properties,
			DlockJdbcProperties jdbcProperties, ResourceLoader resourceLoader,
			ObjectProvider<LockTableInitializer> tableInitializer) {
		TableInitializer script = new TableInitializer("lock", DlockJdbcProperties.DEFAULT_TABLE,
				jdbcProperties.getTable(), jdbcProperties, properties.startupRetry(), resourceLoader,
				LockTableUpgrade::run);
		return new LockStoreCandidate<>(DlockBackend.JDBC, "a DataSource", DataSource.class,
				() -> choose(lockDataSource.getIfAvailable(), dataSource), (chosen) -> {
					int poolSize = (lockDataSource.getIfAvailable() != null) ? 0 : jdbcProperties.getPoolSize();
					LockStore store = new JdbcLockStore(chosen,
							new JdbcLockStoreSettings(jdbcProperties.getTable(), properties.effectiveCommandTimeout(),
									poolSize, jdbcProperties.getRetention(), jdbcProperties.getWakeUp(),
									jdbcProperties.getSynchronousCommit(), properties.failover().terms()));
					tableInitializer.getIfAvailable(() -> script::initialize).initialize(chosen);
					return store;
				});
	}

	private static DataSource choose(@Nullable DataSource dedicated, ObjectProvider<DataSource> dataSource) {
		DataSource chosen = (dedicated != null) ? dedicated : dataSource.getIfUnique();
		if (chosen == null) {
			throw new FailureAnalyzedException("dlock does not know which of several DataSource beans to use.",
					"Annotate one of them with @DlockDataSource, or mark one as @Primary.");
		}
		return chosen;
	}

	/**
	 * Lazy: an application without fenced writes gets neither a connection nor a table.
	 */
	@Bean
	@Lazy
	@ConditionalOnSingleCandidate(DataSource.class)
	@ConditionalOnMissingBean
	FencingGuard dlockFencingGuard(DataSource dataSource, DlockProperties properties,
			DlockJdbcProperties jdbcProperties, ResourceLoader resourceLoader,
			ObjectProvider<FenceTableInitializer> tableInitializer) {
		TableInitializer script = new TableInitializer("fence", FencingGuard.DEFAULT_TABLE,
				jdbcProperties.getFenceTable(), jdbcProperties.ofFence(), properties.startupRetry(), resourceLoader,
				(connection, table) -> {
				});
		FencingGuard guard = DlockConfigurationErrors
			.analyzed(() -> new FencingGuard(dataSource, jdbcProperties.getFenceTable()));
		tableInitializer.getIfAvailable(() -> script::initialize).initialize(dataSource);
		return guard;
	}

}
