package io.dlock.autoconfigure;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

import io.dlock.LockListener;
import io.dlock.LockRegistry;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;

/**
 * Auto-configuration of dlock: a {@link LockStore} and a {@link LockRegistry} on it,
 * methods with {@link io.dlock.DistributedLocked}, the {@link LockListener} beans, and
 * observations of calls. Define your own {@link LockRegistry} or {@link LockStore} bean,
 * also in a parent context, to replace the auto-configured one.
 *
 * @since 0.1
 */
@AutoConfiguration
@Import({ LockedMethodConfiguration.class, LockObservationConfiguration.class, RowCommitGuardConfiguration.class })
public final class DlockAutoConfiguration {

	@Bean
	static LockListenerRegistrar dlockListenerRegistrar(ObjectProvider<LockListener> listeners,
			ListableBeanFactory beans) {
		return new LockListenerRegistrar(listeners, beans);
	}

	@Bean
	static ShutdownOrder dlockShutdownOrder(ConfigurableListableBeanFactory beans) {
		return new ShutdownOrder(beans);
	}

	/**
	 * A child context has none: the publisher of its parent publishes the same events.
	 */
	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBooleanProperty("dlock.events.publish")
	static LockEventPublisher dlockEventPublisher(ApplicationEventPublisher publisher) {
		return new LockEventPublisher(publisher);
	}

	/**
	 * The registry, unless the application defines one.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(LockRegistry.class)
	@EnableConfigurationProperties(DlockProperties.class)
	static class LockRegistryConfiguration {

		/**
		 * Lazy: an application whose registry is a mock needs no store.
		 */
		@Bean(ShutdownOrder.STORE)
		@Lazy
		@ConditionalOnMissingBean
		LockStore dlockStore(ObjectProvider<LockStoreCandidate<?>> candidates, DlockProperties properties,
				Environment environment, ShutdownOrder order) {
			DurationUnitValidator.check(environment);
			return DlockConfigurationErrors.analyzed(() -> {
				properties.settings(InstanceName.of(environment));
				LockStoreCandidate<?> chosen = new LockStoreSelector(candidates.stream()).select(properties.backend(),
						properties.quorum().nodes());
				ForeignGuarantee.check(environment, chosen.backend());
				return order.create(chosen);
			});
		}

		@Bean
		LeaseLockRegistry dlockRegistry(LockStore store, DlockProperties properties, Environment environment,
				ObjectProvider<TestSlice> slice) {
			DurationUnitValidator.check(environment);
			return new LockRegistryFactory(store, properties).create(InstanceName.of(environment),
					slice.getIfAvailable() != null);
		}

	}

}
