package io.dlock.autoconfigure;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

import io.dlock.LockListener;
import io.dlock.LockRegistry;
import io.dlock.aop.CommitGuard;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.aop.InsideTransaction;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.observation.LockObservations;
import io.dlock.store.LockStore;

/**
 * Auto-configuration of dlock: a {@link LockStore} in Redis or a database, a
 * {@link LockRegistry} on it, {@link io.dlock.DistributedLocked}, the application's
 * {@link LockListener} beans, observations of calls, and fences for what is written under
 * the locks. Backs off from a store, registry or fence of the application's, or of a
 * parent context.
 *
 * @since 0.1
 */
@AutoConfiguration(afterName = { "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		"org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration" })
@Import({ JdbcFencingConfiguration.class, LockObservationConfiguration.class, RedisFencingConfiguration.class,
		RowCommitGuardConfiguration.class })
public final class DlockAutoConfiguration {

	/**
	 * One for each context, also below another that has one: it sees no beans of others.
	 */
	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DistributedLockedBeanPostProcessor distributedLockedBeanPostProcessor(ObjectProvider<LockRegistry> registry,
			ObjectProvider<CommitGuard> commitGuard, ObjectProvider<LockObservations> observations,
			Environment environment) {
		Binder properties = Binder.get(environment);
		CommitCheck commitCheck = properties.bind("dlock.transaction.commit-check", CommitCheck.class)
			.orElse(CommitCheck.VALIDITY);
		DistributedLockedBeanPostProcessor postProcessor = new DistributedLockedBeanPostProcessor(registry::getObject);
		postProcessor.setInsideTransaction(
				properties.bind("dlock.transaction.inside", InsideTransaction.class).orElse(InsideTransaction.DEFER));
		postProcessor.setCommitCheck(commitCheck != CommitCheck.OFF);
		if (commitCheck == CommitCheck.ROW) {
			postProcessor.setCommitGuard(commitGuard::getObject);
		}
		postProcessor
			.setProxyTargetClass(environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
		postProcessor.setMode(InterceptionMode.of(environment, DlockAutoConfiguration.class.getClassLoader()));
		properties.bind("dlock.aop.order", Integer.class)
			.ifBound((order) -> DlockConfigurationErrors.analyzed(() -> postProcessor.setAdviceOrder(order)));
		postProcessor.setOnStoreFailure(StoreFailurePolicy.of(environment));
		postProcessor.setObservations(observations::getObject);
		postProcessor.setMdc(properties.bind("dlock.mdc", Boolean.class).orElse(true));
		return postProcessor;
	}

	@Bean
	static LockListenerRegistrar dlockListenerRegistrar(ObjectProvider<LockRegistry> registries,
			ObjectProvider<LockListener> listeners, ListableBeanFactory beans) {
		return new LockListenerRegistrar(registries, listeners, beans);
	}

	@Bean
	static ShutdownOrder dlockShutdownOrder(ConfigurableListableBeanFactory beans) {
		return new ShutdownOrder(beans);
	}

	/**
	 * None in a child: its events are those of its parent, too.
	 */
	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBooleanProperty("dlock.events.publish")
	static LockEventPublisher dlockEventPublisher(ApplicationEventPublisher publisher) {
		return new LockEventPublisher(publisher);
	}

	/**
	 * A registry of ours.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(LockRegistry.class)
	@EnableConfigurationProperties(DlockProperties.class)
	@Import({ RedisLockStoreConfiguration.class, JdbcLockStoreConfiguration.class })
	static class LockRegistryConfiguration {

		/**
		 * Not there before the registry: a test may have a mock of that and no store.
		 */
		@Bean
		@Lazy
		@ConditionalOnMissingBean
		LockStore dlockStore(ObjectProvider<LockStoreCandidate> candidates, DlockProperties properties,
				Environment environment) {
			DurationUnits.check(environment);
			return DlockConfigurationErrors.analyzed(() -> {
				properties.settings(InstanceName.of(environment));
				return new LockStoreSelector(candidates.orderedStream().toList()).select(properties.backend());
			});
		}

		@Bean
		LeaseLockRegistry dlockRegistry(LockStore store, DlockProperties properties, Environment environment) {
			DurationUnits.check(environment);
			return new LockRegistryStarter(store, properties).start(InstanceName.of(environment));
		}

	}

}
