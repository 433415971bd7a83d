package io.dlock.transaction;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * The listeners of transaction managers, one of each type for all contexts that share a
 * manager.
 */
final class ManagerListeners {

	private ManagerListeners() {
	}

	/**
	 * Find the listener of a manager, or add it. The collection of the listeners is
	 * replaced, because threads that commit may be reading it.
	 * @param <T> the type of the listener
	 * @param type the type of the listener
	 * @param creation creates the listener
	 */
	static synchronized <T extends TransactionExecutionListener> T of(ConfigurableTransactionManager manager,
			Class<T> type, Supplier<T> creation) {
		List<TransactionExecutionListener> listeners = new CopyOnWriteArrayList<>(
				manager.getTransactionExecutionListeners());
		for (TransactionExecutionListener known : listeners) {
			if (type.isInstance(known)) {
				return type.cast(known);
			}
		}
		T created = creation.get();
		listeners.add(created);
		manager.setTransactionExecutionListeners(listeners);
		return created;
	}

}
