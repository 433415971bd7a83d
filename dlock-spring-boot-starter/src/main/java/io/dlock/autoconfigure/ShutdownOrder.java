package io.dlock.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

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
import io.dlock.engine.LeaseLockRegistry;

/**
 * Lets the registry outlive what runs the work of the application: an executor works off
 * its queue when it is destroyed, and its tasks need locks. The listeners in turn outlive
 * the registry.
 */
final class ShutdownOrder implements DestructionAwareBeanPostProcessor, ApplicationListener<ContextClosedEvent> {

	private final ConfigurableListableBeanFactory beans;

	private final List<ThreadPoolTaskExecutor> awaited = new ArrayList<>();

	ShutdownOrder(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	/**
	 * Not earlier, because some executors are created at their first use.
	 */
	@Override
	public void onApplicationEvent(ContextClosedEvent event) {
		if (event.getApplicationContext().getAutowireCapableBeanFactory() != this.beans) {
			return;
		}
		for (String registry : created(LockRegistry.class).toList()) {
			created(LockListener.class).forEach((listener) -> this.beans.registerDependentBean(listener, registry));
			created(Executor.class).forEach((executor) -> this.beans.registerDependentBean(registry, executor));
			created(SmartLifecycle.class).filter(this::stopsBeforeTheRegistry)
				.forEach((worker) -> this.beans.registerDependentBean(registry, worker));
		}
		created(ThreadPoolTaskExecutor.class).map((name) -> this.beans.getBean(name, ThreadPoolTaskExecutor.class))
			.filter(ShutdownOrder::isToWorkOffItsQueue)
			.forEach(this.awaited::add);
	}

	private Stream<String> created(Class<?> type) {
		return Stream.of(this.beans.getBeanNamesForType(type, false, false))
			.map(BeanFactoryUtils::transformedBeanName)
			.filter(this.beans::containsSingleton);
	}

	private boolean stopsBeforeTheRegistry(String name) {
		return this.beans.getSingleton(name) instanceof SmartLifecycle worker
				&& worker.getPhase() > LeaseLockRegistry.PHASE;
	}

	/**
	 * The executor has no getter for it.
	 */
	private static boolean isToWorkOffItsQueue(ThreadPoolTaskExecutor executor) {
		return Boolean.TRUE
			.equals(new DirectFieldAccessor(executor).getPropertyValue("waitForTasksToCompleteOnShutdown"));
	}

	@Override
	public boolean requiresDestruction(Object bean) {
		return bean instanceof LeaseLockRegistry;
	}

	/**
	 * An executor that is to work off its queue, but has no time to wait for that, does
	 * so while other beans are destroyed.
	 */
	@Override
	public void postProcessBeforeDestruction(Object bean, String beanName) {
		if (!(bean instanceof LeaseLockRegistry registry)) {
			return;
		}
		long end = System.nanoTime() + registry.settings().shutdownTimeout().toNanos();
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
