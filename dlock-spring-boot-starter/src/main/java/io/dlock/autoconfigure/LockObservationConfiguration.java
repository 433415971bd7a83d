package io.dlock.autoconfigure;

import java.util.function.UnaryOperator;

import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

import io.dlock.LockRegistry;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.observation.LockCallObservationConvention;
import io.dlock.observation.LockObservationSettings;
import io.dlock.store.LockStore;
import io.dlock.store.StorageKey;

/**
 * Observations of calls, with the {@code ObservationRegistry} of the application if it
 * has one.
 */
@Configuration(proxyBeanMethods = false)
class LockObservationConfiguration {

	private static final String STORES = LockStore.class.getPackageName() + ".";

	@Bean
	@ConditionalOnMissingBean
	HiddenKeys dlockHiddenKeys() {
		return new HiddenKeys();
	}

	@Bean
	@ConditionalOnMissingBean
	LockObservationSettings dlockObservations(ObjectProvider<ObservationRegistry> registry,
			ObjectProvider<LockCallObservationConvention> convention, ObjectProvider<LockRegistry> locks,
			ObjectProvider<LockStore> store, HiddenKeys hidden, Environment environment) {
		boolean ours = locks.getIfUnique() instanceof LeaseLockRegistry;
		UnaryOperator<String> keys = showsKeys(environment) ? UnaryOperator.identity()
				: (key) -> hidden.hide(StorageKey.of(key));
		return new LockObservationSettings(registry.getIfUnique(() -> ObservationRegistry.NOOP),
				convention.getIfUnique(), backend(ours ? store.getIfUnique() : null), keys);
	}

	/**
	 * The property of the endpoint, whose type needs Actuator. The reader of a span is
	 * not known, so that only {@code always} shows keys there.
	 */
	private static boolean showsKeys(Environment environment) {
		return Binder.get(environment)
			.bind("dlock.endpoint.show-keys", String.class)
			.map("always"::equalsIgnoreCase)
			.orElse(false);
	}

	/**
	 * The package decides, because the classes of other stores may not be loadable.
	 */
	private static String backend(@Nullable LockStore store) {
		String name = (store != null) ? store.getClass().getPackageName() : "";
		return name.startsWith(STORES) ? name.substring(STORES.length()) : "other";
	}

}
