package io.dlock.autoconfigure;

import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.dlock.observation.LockCallConvention;
import io.dlock.observation.LockObservations;
import io.dlock.store.LockStore;

/**
 * Observations of calls, by the {@code ObservationRegistry} of the application if it has
 * one.
 */
@Configuration(proxyBeanMethods = false)
class LockObservationConfiguration {

	private static final String STORES = LockStore.class.getPackageName() + ".";

	@Bean
	@ConditionalOnMissingBean
	LockObservations dlockObservations(ObjectProvider<ObservationRegistry> registry,
			ObjectProvider<LockCallConvention> convention, ObjectProvider<LockStore> store) {
		return new LockObservations(registry.getIfUnique(() -> ObservationRegistry.NOOP), convention.getIfUnique(),
				backend(store.getIfUnique()));
	}

	/**
	 * By the package, because the classes of the others may not be loadable.
	 */
	private static String backend(@Nullable LockStore store) {
		String name = (store != null) ? store.getClass().getPackageName() : "";
		return name.startsWith(STORES) ? name.substring(STORES.length()) : "other";
	}

}
