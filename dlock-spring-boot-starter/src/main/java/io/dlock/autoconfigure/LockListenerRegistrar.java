package io.dlock.autoconfigure;

import java.util.List;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

import io.dlock.LockListener;
import io.dlock.LockRegistry;

/**
 * Adds the listeners of the application to its registries, in their order. Not before all
 * beans are there: a listener may need what needs the registry.
 */
final class LockListenerRegistrar implements SmartInitializingSingleton {

	private final ObjectProvider<LockRegistry> registries;

	private final ObjectProvider<LockListener> listeners;

	LockListenerRegistrar(ObjectProvider<LockRegistry> registries, ObjectProvider<LockListener> listeners) {
		this.registries = registries;
		this.listeners = listeners;
	}

	@Override
	public void afterSingletonsInstantiated() {
		List<LockListener> ordered = this.listeners.orderedStream().toList();
		if (!ordered.isEmpty()) {
			this.registries.stream().forEach((registry) -> ordered.forEach(registry::addListener));
		}
	}

}
