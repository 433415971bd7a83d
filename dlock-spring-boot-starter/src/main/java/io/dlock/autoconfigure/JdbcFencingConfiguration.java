package io.dlock.autoconfigure;

import javax.sql.DataSource;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.io.ResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;

import io.dlock.fencing.jdbc.FencingGuard;

/**
 * A fence in the application's database, wherever the locks are. An application that does
 * not ask for it gets neither a connection nor a table.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ JdbcTemplate.class, DataSourceScriptDatabaseInitializer.class })
@ConditionalOnSingleCandidate(DataSource.class)
@EnableConfigurationProperties({ DlockJdbcProperties.class, DlockProperties.class })
class JdbcFencingConfiguration {

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	FencingGuard dlockFencingGuard(DataSource dataSource, DlockJdbcProperties properties, ResourceLoader resourceLoader,
			DlockProperties common) {
		FencingGuard guard = DlockConfigurationErrors
			.analyzed(() -> new FencingGuard(dataSource, properties.getFenceTable()));
		JdbcTableInitializer.createFenceTable(dataSource, properties, resourceLoader, common.patience());
		return guard;
	}

}
