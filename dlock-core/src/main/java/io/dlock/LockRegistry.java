package io.dlock;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * Acquires distributed locks. One registry stands for one process: its threads queue up
 * locally, first come first served, and only the first of them calls the store.
 * <p>
 * <strong>Guarantees.</strong> A lock is a lease: the store grants the lock to another
 * caller once the lease is over, even if the holder has not noticed. Three things are
 * promised. Two holders of one key never both have a {@linkplain LockHandle#isValid()
 * valid} handle, unless both are {@linkplain LockMode#SHARED shared}. The
 * {@linkplain LockHandle#token() fencing token} increases with every new holder of a key.
 * A holder that lost its lease knows by its local deadline at the latest. No lease lock
 * promises more; use the fencing token where a stale write must be impossible.
 * <p>
 * The registry pays no attention to transactions: a lock that protects what a transaction
 * writes must be acquired before that transaction begins and released after it has ended.
 * A transaction whose thread holds a lost lock is rolled back instead of committed.
 * <p>
 * All exceptions are unchecked, and the last two do not extend {@link LockException}.
 * {@link LockBusyException}: another caller holds the lock. {@link LockStoreException}:
 * the store failed, so that the state of the lock is unknown. {@link LockLostException}:
 * the lease was over before the release. {@link LockInterruptedException}: the waiting
 * thread was interrupted. {@link LockRegistryClosedException}: the application is
 * shutting down. {@link IllegalArgumentException}: the request cannot be honoured, see
 * {@link #validate}. {@link IllegalStateException}: the thread would wait for itself, or
 * the handle has been released.
 *
 * @since 0.1
 */
public interface LockRegistry extends PermitRegistry {

	/**
	 * Acquire a lock, waiting for it as long as the request says.
	 * <p>
	 * A thread that already holds the key gets a nested handle, which shares lease and
	 * token with the first (unless the request is not {@linkplain LockRequest#reentrant()
	 * reentrant}); the lock is released with the last of its handles. A thread that holds
	 * the lock shared cannot get it exclusively: it would wait for itself.
	 * @param request the key and how to hold it
	 * @return the handle of the held lock, to be closed by the caller
	 * @throws LockBusyException if the lock was not free within the wait time
	 * @throws LockStoreException if the store failed; a lock that the store granted
	 * nevertheless is revoked in the background or ends with its lease
	 * @throws LockLostException if the calling thread holds this key already but its
	 * lease is lost
	 * @throws IllegalStateException if the calling thread holds this key shared and the
	 * request is exclusive
	 * @throws LockInterruptedException if the thread is interrupted while it waits; its
	 * interrupt flag stays set
	 * @throws LockRegistryClosedException if the registry is shutting down
	 * @throws IllegalStateException if the request is not reentrant and would wait
	 * without end for the renewed lock of the calling thread
	 */
	LockHandle acquire(LockRequest request);

	/**
	 * Acquire a lock with the default lease and wait time.
	 * @param key the key to lock
	 * @return the handle of the held lock, to be closed by the caller
	 * @see #acquire(LockRequest)
	 */
	default LockHandle acquire(String key) {
		return acquire(LockRequest.of(key));
	}

	/**
	 * As {@link #acquire(LockRequest)}, but a busy lock is an empty result instead of an
	 * exception. A failure of the store is never reported as an empty result.
	 * @param request the key and how to hold it
	 * @return the handle, or empty if the lock was not free within the wait time
	 */
	Optional<LockHandle> tryAcquire(LockRequest request);

	/**
	 * Acquire a lock with the default lease if it becomes free within the given time.
	 * @param key the key to lock
	 * @param waitTime how long to wait; zero tries exactly once, after a release of this
	 * process that is under way, for which it waits a second at most
	 * @return the handle, or empty if the lock was not free in time
	 */
	default Optional<LockHandle> tryAcquire(String key, Duration waitTime) {
		return tryAcquire(LockRequest.builder(key).waitTime(waitTime).build());
	}

	/**
	 * Acquire a lock without blocking the calling thread. The handle belongs to no
	 * thread: it is not reentrant, it is not {@link LockHandle#current()}, and any thread
	 * may release it.
	 * <p>
	 * The future completes within the wait time, even if the store does not answer; up to
	 * 150 ms later if the store still has to answer a call, and after one command
	 * timeout, at least a second, if the request does not wait. A lock that the store
	 * grants later is released again.
	 * <p>
	 * Cancelling the future gives up the request; a lock that is granted at that moment
	 * is released again. Dependent stages run on a thread of the library, or on the
	 * calling thread if the future is complete already. Give a stage that blocks an
	 * executor: it may block the caller, and while 256 of them block threads of the
	 * library, other futures complete late, also those whose wait time is over.
	 * @param request the key and how to hold it
	 * @return a future that completes with the handle, or exceptionally with the
	 * exception that {@link #acquire(LockRequest)} would have thrown
	 * @throws IllegalArgumentException if the request cannot be honoured, see
	 * {@link #validate}; it is thrown by the call and not by the future
	 */
	CompletableFuture<LockHandle> acquireAsync(LockRequest request);

	/**
	 * As {@link #acquireAsync(LockRequest)}, but a busy lock is an empty result instead
	 * of an exception. A failure of the store is never reported as an empty result.
	 * @param request the key and how to hold it
	 * @return a future that completes with the handle, or empty if the lock was not free
	 * within the wait time. Cancelling it gives up the request
	 */
	default CompletableFuture<Optional<LockHandle>> tryAcquireAsync(LockRequest request) {
		return OptionalFuture.of(acquireAsync(request), LockHandle::releaseAsync);
	}

	/**
	 * As {@link #acquireAsync(LockRequest)}, for a caller that may hold the key already.
	 * Asynchronous work does not stay on one thread, so the caller passes its handle
	 * explicitly.
	 * <p>
	 * If the given handle belongs to this registry and the requested key, and is not
	 * released, the future is complete when this method returns: with a nested handle
	 * that shares lease and token, or with {@link LockLostException} if the lock is lost.
	 * The lock is released with the last of its handles. Any other handle has no effect,
	 * nor has any handle if the request is not {@linkplain LockRequest#reentrant()
	 * reentrant}.
	 * @param request the key and how to hold it
	 * @param outer a handle that the caller holds
	 * @return as for {@link #acquireAsync(LockRequest)}
	 */
	default CompletableFuture<LockHandle> acquireAsync(LockRequest request, LockHandle outer) {
		return acquireAsync(request);
	}

	/**
	 * Acquire several locks, all or none. The registry asks for them in a fixed order,
	 * whatever the order of the collection, so that callers with overlapping sets cannot
	 * wait for each other. A lock that is granted is renewed while the caller waits for
	 * the next. If one stays busy, the others are released again; the caller does not
	 * wait for that. Leases that are not {@linkplain LockRequest#renew() renewed} may run
	 * out while the caller waits.
	 * <p>
	 * A thread that holds one of the keys gets a nested handle of it, as with
	 * {@link #acquire(LockRequest)}. Acquire all keys in one call: a thread that holds a
	 * key and asks for a lower one can wait for another thread that does the opposite,
	 * until the wait time of one of them is over. A warning says so once.
	 * @param template the settings of each lock, and the wait time for all together; its
	 * key is not locked
	 * @param keys the keys, at least one and at most {@value LockSet#MAX_KEYS};
	 * duplicates count once
	 * @return the held locks, to be closed by the caller
	 * @throws LockBusyException if a lock was not free within the wait time; the
	 * exception has its key
	 * @throws LockLostException if a lock was lost while the caller waited for the next;
	 * the others are released again
	 * @throws IllegalArgumentException if there is no key or too many, or one is null or
	 * blank
	 * @see #acquire(LockRequest) the other exceptions
	 */
	LockSet acquireAll(LockRequest template, Collection<String> keys);

	/**
	 * Acquire several locks with the default lease and wait time.
	 * @param keys the keys
	 * @return the held locks, to be closed by the caller
	 * @see #acquireAll(LockRequest, Collection)
	 */
	default LockSet acquireAll(Collection<String> keys) {
		return acquireAll(LockRequest.of("all"), keys);
	}

	/**
	 * As {@link #acquireAll(LockRequest, Collection)}, but a busy lock is an empty result
	 * instead of an exception.
	 * @param template the settings of each lock, and the wait time for all together; its
	 * key is not locked
	 * @param keys the keys
	 * @return the held locks, or empty if one was not free within the wait time
	 */
	default Optional<LockSet> tryAcquireAll(LockRequest template, Collection<String> keys) {
		try {
			return Optional.of(acquireAll(template, keys));
		}
		catch (LockBusyException ex) {
			return Optional.empty();
		}
	}

	/**
	 * Acquire several locks without blocking the calling thread, as
	 * {@link #acquireAsync(LockRequest)} acquires one. The locks belong to no thread.
	 * @param template the settings of each lock, and the wait time for all together; its
	 * key is not locked
	 * @param keys the keys
	 * @return a future that completes with the locks, or exceptionally with the exception
	 * that {@link #acquireAll(LockRequest, Collection)} would have thrown. Cancelling it
	 * gives up the request, and releases the locks that were granted up to then
	 * @throws IllegalArgumentException if there is no key or too many, one is null or
	 * blank, or the request cannot be honoured; it is thrown by the call and not by the
	 * future
	 */
	CompletableFuture<LockSet> acquireAllAsync(LockRequest template, Collection<String> keys);

	/**
	 * As {@link #acquireAllAsync(LockRequest, Collection)}, for a caller that may hold
	 * some of the keys already. The set has nested handles of those, as
	 * {@link #acquireAsync(LockRequest, LockHandle)} says.
	 * @param template the settings of each lock, and the wait time for all together; its
	 * key is not locked
	 * @param keys the keys
	 * @param outer handles that the caller holds
	 * @return as for {@link #acquireAllAsync(LockRequest, Collection)}
	 */
	default CompletableFuture<LockSet> acquireAllAsync(LockRequest template, Collection<String> keys,
			Collection<? extends LockHandle> outer) {
		return acquireAllAsync(template, keys);
	}

	/**
	 * As {@link #acquireAllAsync(LockRequest, Collection)}, but a busy lock is an empty
	 * result instead of an exception.
	 * @param template the settings of each lock, and the wait time for all together; its
	 * key is not locked
	 * @param keys the keys
	 * @return a future that completes with the locks, or empty if one was not free within
	 * the wait time. Cancelling it gives up the request
	 */
	default CompletableFuture<Optional<LockSet>> tryAcquireAllAsync(LockRequest template, Collection<String> keys) {
		return OptionalFuture.of(acquireAllAsync(template, keys), LockSet::releaseAsync);
	}

	/**
	 * Run an action under a lock.
	 * @param request the key and how to hold it
	 * @param action runs while the lock is held
	 * @param <T> the result of the action
	 * @param <E> the exception the action may throw
	 * @return the result of the action
	 * @throws E the exception of the action, with a lost lease as a suppressed exception
	 * @throws LockLostException if the action returned but the lease was over by then:
	 * another caller may have done the same work meanwhile
	 */
	default <T extends @org.jspecify.annotations.Nullable Object, E extends Exception> T execute(LockRequest request,
			LockedAction<T, E> action) throws E {
		try (LockHandle handle = acquire(request)) {
			return action.run(handle);
		}
	}

	/**
	 * A view of a key as a {@link Lock}. {@code lock()} waits until the lock is free and
	 * is not interruptible, {@code tryLock()} tries once, and {@code unlock()} by a
	 * thread that does not hold the lock throws {@link IllegalMonitorStateException}.
	 * {@code unlock()} throws {@link LockLostException} if the lease was over before.
	 * Conditions are not supported. A thread that has lost the lock must still unlock it,
	 * and learns of the loss from that call; until then, {@code lock()} and
	 * {@code tryLock()} throw {@link LockLostException} in that thread.
	 * @param key the key to lock
	 * @return a view with the default lease; views of one key are interchangeable and
	 * equal, but not the same object
	 */
	default Lock lock(String key) {
		return lock(LockRequest.of(key));
	}

	/**
	 * A view of a request as a {@link Lock}. The wait time of the request is not used:
	 * the methods of {@link Lock} say how long they wait. If the request is not
	 * reentrant, {@code lock()} by a thread that holds the renewed lock of the key throws
	 * {@link IllegalStateException}, since it would wait for itself without end.
	 * @param request the key and how to hold it
	 * @return the view; views of equal requests are equal
	 * @see #lock(String)
	 */
	Lock lock(LockRequest request);

	/**
	 * A view of a key as a {@link ReadWriteLock}: its read lock is shared, its write lock
	 * is exclusive. Both are views as {@link #lock(LockRequest)} returns them.
	 * <p>
	 * A reader that comes after a waiting writer waits behind it; the readers that wait
	 * for the same writer get the lock together. A thread that holds the write lock may
	 * take the read lock. The lock stays exclusive until both are unlocked, in any order:
	 * {@link LockHandle#downgrade()} lets other readers in. A thread that holds only the
	 * read lock gets an {@link IllegalStateException} when it takes the write lock, since
	 * it would wait for itself.
	 * @param request the key and how to hold it; its mode is not used
	 * @return the view
	 */
	default ReadWriteLock readWriteLock(LockRequest request) {
		return new KeyReadWriteLock(lock(request.withMode(LockMode.SHARED)),
				lock(request.withMode(LockMode.EXCLUSIVE)));
	}

	/**
	 * A view of a key as a {@link ReadWriteLock}, with the default lease.
	 * @param key the key to lock
	 * @return the view
	 * @see #readWriteLock(LockRequest)
	 */
	default ReadWriteLock readWriteLock(String key) {
		return readWriteLock(LockRequest.of(key));
	}

	/**
	 * Whether the calling thread holds a key of this registry now, shared or exclusively,
	 * for assertions. A {@linkplain LockHandle#isPermit permit} is no lock of its key.
	 * Does not call the store. Handles that were acquired asynchronously belong to no
	 * thread unless they are {@linkplain LockContext#bind bound} to it.
	 * <p>
	 * Do not use it to decide whether to call {@link Lock#unlock()}: a lost lock is no
	 * longer held, but must still be unlocked.
	 * @param key the key
	 * @return whether the thread has a handle of the key that is
	 * {@linkplain LockHandle#isValid() valid}
	 */
	boolean isHeldByCurrentThread(String key);

	/**
	 * Whether a handle belongs to this registry. Two registries may each have a lock with
	 * the same key.
	 * @param handle a handle
	 * @return {@code false} if it belongs to another registry
	 */
	default boolean owns(LockHandle handle) {
		return true;
	}

	/**
	 * Look up the current holder of a key, in this process or any other, for people and
	 * diagnostics. The answer may be out of date when it arrives: programs must not base
	 * decisions on it.
	 * @param key the key to look up
	 * @return the current holder according to the store, or empty if the key is free
	 * @throws LockStoreException if the store failed
	 */
	Optional<LockInfo> find(String key);

	/**
	 * Check that a request can be honoured by this registry: a lease that is renewed is
	 * at least four command timeouts of the store, so that a renewal has time to fail and
	 * be repeated, a lease is at most its {@code maxHold} and the longest lease of the
	 * registry, and the store has shared locks if the request is shared, and fair locks
	 * if it is fair.
	 * @param request the request to check
	 * @throws IllegalArgumentException if it cannot; the message names the value to
	 * change
	 */
	default void validate(LockRequest request) {
	}

	/**
	 * Add a listener to the locks of this registry. Listeners are called in the order in
	 * which they were added; without listeners no event is created.
	 * @param listener the listener
	 */
	void addListener(LockListener listener);

	/**
	 * Remove a listener. An event that is being published may still reach it.
	 * @param listener the listener
	 */
	void removeListener(LockListener listener);

}
