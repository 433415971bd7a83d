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

}
