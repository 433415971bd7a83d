package io.dlock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Limits how many callers of all processes do the same work at once. Each caller takes a
 * permit; a permit is held like a lock, by a lease that is renewed and can be lost.
 *
 * <pre class="code">
 * try (LockHandle permit = registry.acquirePermit("export", 3)) {
 *     export();
 * }
 * </pre>
 *
 * <strong>The limit</strong> is that of the request: the store grants a permit if fewer
 * than that many are held. It is stored nowhere, so that a change needs no reset: during
 * a rolling update each instance keeps to its own limit, and a lower limit revokes no
 * permit. Callers of one key should agree on it.
 * <p>
 * <strong>Keys.</strong> Permits and locks have separate keys: the limit {@code export}
 * and the lock {@code export} do not exclude each other. In the store, in events, and as
 * {@link LockHandle#key()}, the key of a permit is {@code limit:export}. A lock with
 * exactly that key waits for all permits, and the permits wait for it. It is refused to a
 * thread that has a permit, which would wait for itself.
 * <p>
 * <strong>No reentrancy.</strong> Each call takes a permit of its own, also in a thread
 * that has one. A thread that needs two should not wait without a time limit.
 * <p>
 * <strong>Settings.</strong> {@code lease}, {@code waitTime}, {@code renew},
 * {@code maxHold}, {@code name} and {@code reason} of the request mean the same as for a
 * lock. A permit with a {@code minHold} stays taken for that time, which limits how often
 * the work starts. {@code reentrant} is not used. A shared request is refused.
 * <p>
 * <strong>Tokens.</strong> The fencing token tells two permits of a key apart. A permit
 * excludes no other caller, so that the token cannot protect data.
 *
 * @since 0.1
 */
public interface PermitRegistry {

	/**
	 * The beginning of the key of a permit; the key of its request comes after it.
	 */
	String PERMIT_PREFIX = "limit:";

	/**
	 * The highest limit. A store keeps all permits of a key in one record.
	 */
	int MAX_PERMITS = 1000;

	/**
	 * Take a permit, waiting for it as long as the request says.
	 * @param request the key and how to hold the permit
	 * @param limit how many permits of the key may be held at once, this one included, by
	 * all processes; from 1 to 1,000
	 * @return the handle of the permit, to be closed by the caller
	 * @throws LockBusyException if no permit was free within the wait time
	 * @throws IllegalArgumentException if the limit is out of range, the request is
	 * shared or cannot be honoured, or the store has no permits
	 * @see LockRegistry#acquire(LockRequest) the other exceptions
	 */
	default LockHandle acquirePermit(LockRequest request, int limit) {
		throw new UnsupportedOperationException("This registry has no permits");
	}

	/**
	 * Take a permit with the default lease and wait time.
	 * @param key the key
	 * @param limit how many permits of the key may be held at once
	 * @return the handle of the permit, to be closed by the caller
	 * @see #acquirePermit(LockRequest, int)
	 */
	default LockHandle acquirePermit(String key, int limit) {
		return acquirePermit(LockRequest.of(key), limit);
	}

	/**
	 * As {@link #acquirePermit(LockRequest, int)}, but an exhausted limit is an empty
	 * result instead of an exception.
	 * @param request the key and how to hold the permit
	 * @param limit how many permits of the key may be held at once
	 * @return the handle of the permit, or empty if none was free within the wait time
	 */
	default Optional<LockHandle> tryAcquirePermit(LockRequest request, int limit) {
		try {
			return Optional.of(acquirePermit(request, limit));
		}
		catch (LockBusyException ex) {
			return Optional.empty();
		}
	}

	/**
	 * Take a permit with the default lease if one becomes free within the given time.
	 * @param key the key
	 * @param limit how many permits of the key may be held at once
	 * @param waitTime how long to wait; zero tries exactly once, after a release of this
	 * process that is under way. Tries for permits of one key in one process ask the
	 * store one after the other
	 * @return the handle of the permit, or empty if none was free in time
	 */
	default Optional<LockHandle> tryAcquirePermit(String key, int limit, Duration waitTime) {
		return tryAcquirePermit(LockRequest.builder(key).waitTime(waitTime).build(), limit);
	}

	/**
	 * Check that a request for a permit can be honoured by this registry, as
	 * {@link LockRegistry#validate} does for a lock, and that its store has permits.
	 * @param request the request to check
	 * @param limit how many permits of the key may be held at once
	 * @throws IllegalArgumentException if it cannot; the message names the value to
	 * change
	 */
	default void validatePermit(LockRequest request, int limit) {
	}

	/**
	 * Take a permit without blocking the calling thread, as
	 * {@link LockRegistry#acquireAsync(LockRequest)} acquires a lock.
	 * @param request the key and how to hold the permit
	 * @param limit how many permits of the key may be held at once
	 * @return a future that completes with the handle, or exceptionally with the
	 * exception that {@link #acquirePermit(LockRequest, int)} would have thrown
	 * @throws IllegalArgumentException if the limit is out of range or the request cannot
	 * be honoured; it is thrown by the call and not by the future
	 */
	default CompletableFuture<LockHandle> acquirePermitAsync(LockRequest request, int limit) {
		throw new UnsupportedOperationException("This registry has no permits");
	}

}
