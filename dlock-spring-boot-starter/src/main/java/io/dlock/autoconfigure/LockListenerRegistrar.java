package io.dlock.autoconfigure;

import java.util.Collection;
import java.util.List;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

import io.dlock.LockListener;
import io.dlock.LockRegistry;

/**
 * Adds the listeners of the application to its registries, in their order. Not before all
 * beans are there: a listener may need what needs the registry. A child context adds its
 * own listeners to the registry of its parent, which has added the others.
 */
final class LockListenerRegistrar implements SmartInitializingSingleton {

	private final ObjectProvider<LockRegistry> registries;

	private final ObjectProvider<LockListener> listeners;

	private final ListableBeanFactory beans;

	LockListenerRegistrar(ObjectProvider<LockRegistry> registries, ObjectProvider<LockListener> listeners,
			ListableBeanFactory beans) {
		this.registries = registries;
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
		this.registries.stream()
			.forEach((registry) -> all.stream()
				.filter((listener) -> ownRegistries.contains(registry) || own.contains(listener))
				.forEach(registry::addListener));
	}

}
