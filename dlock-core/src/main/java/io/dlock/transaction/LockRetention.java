package io.dlock.transaction;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.dlock.LockHandle;

/**
 * Who keeps the lock of an asynchronous call beside the call itself.
 */
public interface LockRetention {

	/** Nobody does. */
	LockRetention NONE = new LockRetention() {
	};

	/**
	 * Ask for the lock.
	 * @param outer a handle of the key that the caller holds, or {@code null}
	 * @param registry asks the registry, with the handle that the call is nested in
	 * @return the handle to come
	 */
	default CompletableFuture<LockHandle> acquire(@Nullable LockHandle outer,
			Function<@Nullable LockHandle, CompletableFuture<LockHandle>> registry) {
		return registry.apply(outer);
	}

	/**
	 * The lock is granted, and the method is about to run.
	 * @param granted the lock
	 * @return the lock, to be released when the work is done
	 */
	default LockHandle keep(LockHandle granted) {
		return granted;
	}

	/**
	 * The lock is granted, but nobody waits for it any more.
	 * @param granted the lock
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // nobody can do anything about it
	default void giveBack(LockHandle granted) {
		granted.releaseAsync();
	}

}
