package io.dlock;

import org.jspecify.annotations.Nullable;

/**
 * The store works, but this process was too slow to get the lock. It asks for more locks
 * at once than its connections to the store can carry, so that the store was not asked in
 * time; or it was suspended, so that hardly anything was left of the lease when the
 * answer arrived; or others asked at the same time again and again, and no holder was
 * seen. Others may hold the lock: {@link OnStoreFailure#PROCEED} does not run a method
 * without its lock. Allow more wait time, more connections, or a longer lease.
 *
 * @since 0.1
 */
public final class LockCongestedException extends LockStoreException {

	/**
	 * Create the exception.
	 * @param key the key
	 * @param operation the operation that took too long
	 * @param consequence the consequence for the lock
	 * @param cause the reason
	 */
	public LockCongestedException(String key, String operation, String consequence, @Nullable Throwable cause) {
		super(key, operation, consequence, cause);
	}

	@Override
	public boolean isOutage() {
		return false;
	}

}
