package io.dlock;

import org.jspecify.annotations.Nullable;

/**
 * An action that runs while a lock is held.
 *
 * @param <T> the result
 * @param <E> the exception that may be thrown; {@link RuntimeException} if none
 * @since 0.1
 * @see LockRegistry#execute(LockRequest, LockedAction)
 */
@FunctionalInterface
public interface LockedAction<T extends @Nullable Object, E extends Exception> {

	/**
	 * Run the action.
	 * @param handle the held lock: call {@link LockHandle#assertHeld()} before a step
	 * that must not happen without it, write {@link LockHandle#token()} with the data
	 * @return the result
	 * @throws E if the action fails; the lock is released then as well
	 */
	T run(LockHandle handle) throws E;

}
