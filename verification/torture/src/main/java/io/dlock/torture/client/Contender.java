package io.dlock.torture.client;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Something that locks keys, connected to a store.
 */
interface Contender extends AutoCloseable {

	/**
	 * Acquire a lock, waiting for it as long as the call says.
	 * @return what came of it
	 */
	Outcome acquire(LockCall call);

	/**
	 * Ask for a lock without waiting for it.
	 */
	default CompletableFuture<Outcome> acquireAsync(LockCall call) {
		throw new UnsupportedOperationException("There are no futures");
	}

	/**
	 * Acquire several locks, all or none.
	 * @param calls the calls, which differ in their keys only
	 */
	default Outcome acquireAll(List<LockCall> calls) {
		throw new UnsupportedOperationException("There are no locks on several keys");
	}

	/**
	 * The abilities that the judge may expect.
	 */
	Abilities abilities();

	/**
	 * The application around it, if it has connections that can be used up.
	 */
	default Optional<Application> application() {
		return Optional.empty();
	}

	/**
	 * Shut down the locks, and then the connections.
	 */
	@Override
	void close();

	/**
	 * The abilities of a contender.
	 *
	 * @param fenced whether there are fencing tokens
	 * @param notified whether a holder is told that its lock is lost
	 * @param reentrant whether a thread may acquire a lock that it holds
	 * @param renewing whether it can renew a lease
	 * @param commandTimeoutNanos the longest wait for its store
	 * @param pollNanos how often a waiting process looks at a busy lock at least
	 */
	record Abilities(boolean fenced, boolean notified, boolean reentrant, boolean renewing, long commandTimeoutNanos,
			long pollNanos) {

	}

}
