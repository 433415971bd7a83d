package io.dlock.transaction;

import java.lang.reflect.Method;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;

/**
 * A call of a locked method, as transactions see it. Internal to the library.
 */
public interface LockedInvocation {

	/**
	 * The keys that the call locks.
	 * @return the keys, at least one
	 */
	List<String> keys();

	/**
	 * The registry of the locks.
	 * @return the registry
	 */
	LockRegistry registry();

	/**
	 * Find the handle by which the calling thread holds a key in the registry of the
	 * call.
	 * @param key the key
	 * @return the innermost handle, or {@code null} if there is none
	 */
	default @Nullable LockHandle held(String key) {
		return LockContext.find(key, registry()::owns);
	}

	/**
	 * Whether the call takes a permit, which protects no data and is independent of the
	 * transaction of its caller.
	 * @return whether it does
	 */
	boolean isPermit();

	/**
	 * The method that is called.
	 * @return the method
	 */
	Method method();

	/**
	 * The class of the object whose method is called.
	 * @return the class
	 */
	Class<?> targetClass();

	/**
	 * Whether the loss of the lock has no consequences.
	 * @return whether it is ignored
	 */
	boolean isLossIgnored();

	/**
	 * Find an advice that the proxy applies to the call.
	 * @param <T> the type
	 * @param type the type of the advice
	 * @return the advice, or {@code null} if there is none
	 */
	<T> @Nullable T advice(Class<T> type);

}
