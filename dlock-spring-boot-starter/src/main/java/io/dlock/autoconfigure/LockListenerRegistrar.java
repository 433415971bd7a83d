package io.dlock.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

import io.dlock.LockListener;
import io.dlock.LockRegistry;

/**
 * Adds the listeners of the application to its registries, also to those that are no
 * default candidates, in their order. It does so when all beans exist, because a listener
 * may depend on beans that depend on the registry. A child context adds its own listeners
 * to the registry of its parent, which has added the others, and removes them when it is
 * closed.
 */
final class LockListenerRegistrar implements SmartInitializingSingleton, DisposableBean {

	private final ObjectProvider<LockListener> listeners;

	private final ListableBeanFactory beans;

	private final List<Runnable> removals = new ArrayList<>();

	LockListenerRegistrar(ObjectProvider<LockListener> listeners, ListableBeanFactory beans) {
		this.listeners = listeners;
		this.beans = beans;
	}

	@Override
	public void afterSingletonsInstantiated() {
		List<LockListener> all = this.listeners.orderedStream().toList();
		if (all.isEmpty()) {
			return;
		}
		Collection<LockListener> own = this.beans.getBeansOfType(LockListener.class).values();
		Collection<LockRegistry> ownRegistries = this.beans.getBeansOfType(LockRegistry.class).values();
		BeanFactoryUtils.beansOfTypeIncludingAncestors(this.beans, LockRegistry.class).values().forEach((registry) -> {
			if (ownRegistries.contains(registry)) {
				all.forEach(registry::addListener);
			}
			else {
				all.stream().filter(own::contains).forEach((listener) -> lend(listener, registry));
			}
		});
	}

	private void lend(LockListener listener, LockRegistry registry) {
		registry.addListener(listener);
		this.removals.add(() -> registry.removeListener(listener));
	}

	@Override
	public void destroy() {
		this.removals.forEach(Runnable::run);
	}

}
