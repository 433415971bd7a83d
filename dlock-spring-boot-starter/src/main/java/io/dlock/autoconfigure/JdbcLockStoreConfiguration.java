package io.dlock.autoconfigure;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ResourceLoader;

import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;

/**
 * Locks in a database are possible.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ DataSource.class, DataSourceScriptDatabaseInitializer.class })
@Conditional(AnyDataSource.class)
@EnableConfigurationProperties(DlockJdbcProperties.class)
class JdbcLockStoreConfiguration {

	@Bean
	LockStoreCandidate jdbcLockStoreCandidate(ObjectProvider<DataSource> dataSource,
			@DlockDataSource ObjectProvider<DataSource> lockDataSource, DlockProperties properties,
			DlockJdbcProperties jdbcProperties, ResourceLoader resourceLoader) {
		return new LockStoreCandidate(DlockBackend.JDBC, "a DataSource", DataSource.class, () -> {
			DataSource dedicated = lockDataSource.getIfAvailable();
			int poolSize = (dedicated != null) ? 0 : jdbcProperties.getPoolSize();
			DataSource chosen = choose(dedicated, dataSource);
			LockStore store = new JdbcLockStore(chosen, new JdbcLockStoreSettings(jdbcProperties.getTable(),
					properties.effectiveCommandTimeout(), poolSize, jdbcProperties.getRetention()));
			JdbcTableInitializer.createLockTable(chosen, jdbcProperties, resourceLoader, properties.patience());
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

}
