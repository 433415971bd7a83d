package io.dlock.autoconfigure;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.springframework.beans.BeanWrapperImpl;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.TransactionManager;

import io.dlock.LockRegistry;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.transaction.CommitGuard;

/**
 * The guard for {@code dlock.transaction.commit-check: row}, or the reason why it is
 * impossible.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "dlock.transaction.commit-check", havingValue = "row")
class RowCommitGuardConfiguration {

	@Bean
	@ConditionalOnMissingBean
	CommitGuard dlockRowCommitGuard(ListableBeanFactory beans) {
		List<LeaseLockRegistry> registries = beans(beans, LockRegistry.class)
			.filter(LeaseLockRegistry.class::isInstance)
			.map(LeaseLockRegistry.class::cast)
			.toList();
		if (registries.isEmpty()) {
			throw new FailureAnalyzedException(
					"dlock.transaction.commit-check is 'row', but the LockRegistry is one of the application or a mock, which has no rows.",
					"Set dlock.transaction.commit-check=validity, also in a test with a mock.");
		}
		Map<LeaseLockRegistry, JdbcLockStore> stores = new LinkedHashMap<>();
		registries.forEach((registry) -> {
			if (registry.store() instanceof JdbcLockStore store) {
				stores.put(registry, store);
			}
		});
		if (stores.isEmpty()) {
			throw new FailureAnalyzedException(
					"dlock.transaction.commit-check is 'row', but the locks are not in a database.",
					"Set dlock.backend=jdbc, or dlock.transaction.commit-check=validity.");
		}
		stores.values()
			.removeIf((store) -> beans(beans, TransactionManager.class).noneMatch((manager) -> isOn(store, manager)));
		if (stores.isEmpty()) {
			throw new FailureAnalyzedException(
					"dlock.transaction.commit-check is 'row', but no transaction manager works on the DataSource of the locks.",
					"Let the locks have the DataSource of the transactions (the primary one, or that with @DlockDataSource), "
							+ "or set dlock.transaction.commit-check=validity.");
		}
		return new RowCommitGuard(stores);
	}

	private static <T> Stream<T> beans(ListableBeanFactory beans, Class<T> type) {
		return BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, type).values().stream();
	}

	/**
	 * The transaction managers of JDBC, JPA and Hibernate have the property.
	 */
	private static boolean isOn(JdbcLockStore store, Object manager) {
		BeanWrapperImpl properties = new BeanWrapperImpl(manager);
		return properties.isReadableProperty("dataSource")
				&& properties.getPropertyValue("dataSource") instanceof DataSource dataSource && store.isOn(dataSource);
	}

}
