package io.dlock.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

import io.dlock.LockEvent;
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

	private final List<ChildListener> lent = new ArrayList<>();

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
		ChildListener childListener = new ChildListener(listener);
		this.lent.add(childListener);
		registry.addListener(childListener);
	}

	@Override
	public void destroy() {
		this.lent.forEach(ChildListener::end);
	}

	/**
	 * A listener that ends before its registry.
	 */
	private static final class ChildListener implements LockListener {

		private volatile @Nullable LockListener listener;

		ChildListener(LockListener listener) {
			this.listener = listener;
		}

		@Override
		public void onEvent(LockEvent event) {
			LockListener current = this.listener;
			if (current != null) {
				current.onEvent(event);
			}
		}

		void end() {
			this.listener = null;
		}

	}

}
