package io.dlock.autoconfigure.jdbc;

import java.util.Set;

import org.springframework.boot.sql.init.dependency.AbstractBeansOfTypeDependsOnDatabaseInitializationDetector;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitializationDetector;
import org.springframework.util.ClassUtils;

import io.dlock.fencing.jdbc.FencingGuard;
import io.dlock.store.LockStore;

/**
 * Orders the lock store and the fence after Flyway, Liquibase and {@code schema.sql}.
 */
class DlockDependsOnDatabaseInitializationDetector extends AbstractBeansOfTypeDependsOnDatabaseInitializationDetector
		implements DependsOnDatabaseInitializationDetector {

	/** An application with R2DBC has database scripts but no JDBC. */
	private static final boolean JDBC = ClassUtils.isPresent("org.springframework.jdbc.core.JdbcTemplate",
			DlockDependsOnDatabaseInitializationDetector.class.getClassLoader());

	@Override
	protected Set<Class<?>> getDependsOnDatabaseInitializationBeanTypes() {
		return JDBC ? Set.of(LockStore.class, FencingGuard.class) : Set.of(LockStore.class);
	}

}
