package io.dlock.transaction;

import io.dlock.LockHandle;

/**
 * A handle that user code may have while a transaction keeps its lock. Internal to the
 * library.
 */
public interface KeepableHandle extends LockHandle {

	/**
	 * From now on a transaction needs the lock as it is.
	 */
	void keep();

	/**
	 * The method has ended, and only the transaction keeps the lock: it is not the
	 * current one of its thread as long as there is another.
	 */
	void keepOnly();

}
