package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.springframework.beans.BeansException;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import io.dlock.LockListener;
import io.dlock.LockRegistry;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;

/**
 * Destroys the registry after the executors of the application: an executor works off its
 * queue when it is destroyed, and its tasks need locks. So do callers of locked beans.
 * The listeners and the source of the store are destroyed after the registry.
 */
final class ShutdownOrder implements DestructionAwareBeanPostProcessor, ApplicationListener<ContextClosedEvent> {

	static final String STORE = "dlockStore";

	private final ConfigurableListableBeanFactory beans;

	private final List<ThreadPoolTaskExecutor> awaited = new ArrayList<>();

	private Supplier<Stream<String>> sources = Stream::empty;

	ShutdownOrder(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	/**
	 * Create the store. It looks up its source, which is no dependency for the bean
	 * factory.
	 */
	<S> LockStore create(LockStoreCandidate<S> candidate) {
		S source = candidate.source().get();
		this.sources = () -> created(candidate.type()).filter((name) -> this.beans.getBean(name) == source);
		return candidate.store().apply(source);
	}

	/**
	 * Must run before the beans are destroyed.
	 */
	@Override
	public boolean supportsAsyncExecution() {
		return false;
	}

	/**
	 * The order is set this late because some executors are created at their first use.
	 */
	@Override
	public void onApplicationEvent(ContextClosedEvent event) {
		if (event.getApplicationContext().getAutowireCapableBeanFactory() != this.beans) {
			return;
		}
		this.sources.get()
			.filter((source) -> !dependencies(source).contains(STORE))
			.forEach((source) -> this.beans.registerDependentBean(source, STORE));
		created(LockRegistry.class).toList().forEach(this::order);
		created(ThreadPoolTaskExecutor.class).map((name) -> this.beans.getBean(name, ThreadPoolTaskExecutor.class))
			.filter(ShutdownOrder::worksOffItsQueueUnawaited)
			.forEach(this.awaited::add);
	}

	/**
	 * A listener that depends on a worker or on the registry is destroyed before it.
	 */
	private void order(String registry) {
		Set<String> needed = dependencies(registry);
		Set<String> before = Stream
			.of(created(Executor.class), created(SmartLifecycle.class).filter(this::stopsBeforeTheRegistry), locked())
			.flatMap(Function.identity())
			.filter(Predicate.not(needed::contains))
			.collect(Collectors.toSet());
		before.forEach((worker) -> this.beans.registerDependentBean(registry, worker));
		before.add(registry);
		created(LockListener.class).filter(Predicate.not(before::contains))
			.filter((listener) -> Collections.disjoint(dependencies(listener), before))
			.forEach((listener) -> this.beans.registerDependentBean(listener, registry));
	}

	private Set<String> dependencies(String name) {
		Set<String> found = new HashSet<>();
		addDependencies(name, found);
		return found;
	}

	private void addDependencies(String name, Set<String> found) {
		for (String dependency : this.beans.getDependenciesForBean(name)) {
			if (found.add(dependency)) {
				addDependencies(dependency, found);
			}
		}
	}

	private Stream<String> created(Class<?> type) {
		return Stream.of(this.beans.getBeanNamesForType(type, false, false))
			.map(BeanFactoryUtils::transformedBeanName)
			.filter(this.beans::containsSingleton);
	}

	/**
	 * A listener is told of the locks that are lost at the end. It may be made by a
	 * configuration with a locked method.
	 */
	private Stream<String> locked() {
		Set<String> listening = created(LockListener.class)
			.flatMap((listener) -> Stream.concat(Stream.of(listener), dependencies(listener).stream()))
			.collect(Collectors.toSet());
		return created(DistributedLockedBeanPostProcessor.class)
			.map((name) -> this.beans.getBean(name, DistributedLockedBeanPostProcessor.class))
			.flatMap((postProcessor) -> postProcessor.lockedBeans().stream())
			.filter(this.beans::containsSingleton)
			.filter(Predicate.not(listening::contains));
	}

	private boolean stopsBeforeTheRegistry(String name) {
		return this.beans.getSingleton(name) instanceof SmartLifecycle worker
				&& worker.getPhase() > LeaseLockRegistry.PHASE;
	}

	/**
	 * Spring itself awaits an executor that has a termination timeout. The executor has
	 * no getters for these settings.
	 */
	private static boolean worksOffItsQueueUnawaited(ThreadPoolTaskExecutor executor) {
		try {
			DirectFieldAccessor fields = new DirectFieldAccessor(executor);
			return Boolean.TRUE.equals(fields.getPropertyValue("waitForTasksToCompleteOnShutdown"))
					&& Long.valueOf(0).equals(fields.getPropertyValue("awaitTerminationMillis"));
		}
		catch (BeansException ex) {
			return false;
		}
	}

	@Override
	public boolean requiresDestruction(Object bean) {
		return bean instanceof LeaseLockRegistry;
	}

	/**
	 * An executor without a termination timeout works off its queue while other beans are
	 * destroyed.
	 */
	@Override
	public void postProcessBeforeDestruction(Object bean, String beanName) {
		if (bean instanceof LeaseLockRegistry registry) {
			registry.spendShutdownTime(this::awaitExecutors);
		}
	}

	private void awaitExecutors(Duration limit) {
		long end = System.nanoTime() + limit.toNanos();
		try {
			for (ThreadPoolTaskExecutor executor : this.awaited) {
				executor.getThreadPoolExecutor().awaitTermination(end - System.nanoTime(), TimeUnit.NANOSECONDS);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
