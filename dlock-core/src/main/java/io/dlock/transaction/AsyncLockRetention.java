package io.dlock.transaction;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.dlock.LockHandle;
import io.dlock.LockSet;

/**
 * Keeps the locks of an asynchronous call longer than the call itself. Internal to the
 * library.
 */
public interface AsyncLockRetention {

	/** No retention. */
	AsyncLockRetention NONE = new AsyncLockRetention() {
	};

	/**
	 * Ask for the locks.
	 * @param outer handles of the keys that the caller holds
	 * @param registry asks the registry, with the handles that the call is nested in
	 * @return the locks to come
	 */
	default CompletableFuture<LockSet> acquire(List<LockHandle> outer,
			Function<List<LockHandle>, CompletableFuture<LockSet>> registry) {
		return registry.apply(outer);
	}

	/**
	 * Take granted locks for the method, which is about to run.
	 * @param granted the locks
	 * @return the locks to release when the work is done
	 */
	default LockSet keep(LockSet granted) {
		return granted;
	}

	/**
	 * Release granted locks for which the caller waits no longer.
	 * @param granted the locks
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // the leases end anyway
	default void giveBack(LockSet granted) {
		granted.releaseAsync();
	}

}
