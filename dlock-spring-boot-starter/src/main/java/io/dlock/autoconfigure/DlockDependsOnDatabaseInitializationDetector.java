package io.dlock.autoconfigure;

import java.util.Set;

import org.springframework.boot.sql.init.dependency.AbstractBeansOfTypeDependsOnDatabaseInitializationDetector;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitializationDetector;

import io.dlock.store.LockStore;

/**
 * Flyway, Liquibase and {@code schema.sql} run before the lock table is looked at.
 */
class LockStoreDependsOnDatabaseInitializationDetector extends
		AbstractBeansOfTypeDependsOnDatabaseInitializationDetector implements DependsOnDatabaseInitializationDetector {

	@Override
	protected Set<Class<?>> getDependsOnDatabaseInitializationBeanTypes() {
		return Set.of(LockStore.class);
	}

}
