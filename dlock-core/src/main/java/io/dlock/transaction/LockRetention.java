package io.dlock.transaction;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.dlock.LockHandle;

/**
 * Keeps the lock of an asynchronous call longer than the call itself. Internal to the
 * library.
 */
public interface LockRetention {

	/** No retention. */
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
	 * Take a granted lock for the method, which is about to run.
	 * @param granted the lock
	 * @return the handle to release when the work is done
	 */
	default LockHandle keep(LockHandle granted) {
		return granted;
	}

	/**
	 * Release a granted lock for which the caller waits no longer.
	 * @param granted the lock
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // the lease ends anyway
	default void giveBack(LockHandle granted) {
		granted.releaseAsync();
	}

}
