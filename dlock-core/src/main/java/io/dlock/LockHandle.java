package io.dlock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * A held lock. Any thread may use or release it. While it is held, the thread that
 * acquired it gets a nested handle when it acquires the key again. A thread that hands
 * its handles to others should make its requests {@linkplain LockRequest#reentrant() not
 * reentrant}, or acquire asynchronously.
 * <p>
 * A lease that is over is <em>lost</em>, and stays lost: a handle never becomes valid
 * again. Closing a handle more than once has no further effect.
 *
 * @since 0.1
 */
public interface LockHandle extends AutoCloseable {

	/**
	 * The locked key.
	 * @return the key as it was requested
	 */
	String key();

	/**
	 * The fencing token: higher than that of every earlier holder of this key, even after
	 * the store has lost its data (as long as the store's clock is not behind the last
	 * token). It never changes; nested handles share it. Write it beside the data that
	 * the lock protects, and refuse writes with a lower one.
	 * <p>
	 * The number does not fit a JavaScript {@code number}: send it as text.
	 * @return the token, positive
	 */
	long token();

	/**
	 * Whether the lock is held: a local check of the deadline that costs two clock
	 * readings and does not block. It is never {@code true} after the end of the lease.
	 * @return {@code true} until the lock is released or lost
	 */
	boolean isValid();

	/**
	 * The time for which the lock is still held if it is not renewed.
	 * @return the remaining validity, zero if released or lost
	 */
	Duration remaining();

	/**
	 * Check that the lock is held, directly before a step that must not happen without
	 * it.
	 * @throws LockLostException if the lease is over
	 * @throws IllegalStateException if this handle has been released
	 */
	void assertHeld();

	/**
	 * Whether this is a permit of a {@linkplain PermitRegistry limit}, and not a lock.
	 * Its token tells permits apart, and protects no data.
	 * @return {@code true} for a permit
	 * @since 0.1
	 */
	default boolean isPermit() {
		return false;
	}

	/**
	 * Renew the lease now, in addition to the renewals in the background, and wait for
	 * the answer of the store: directly before a step that cannot be interrupted and must
	 * not outlast the lock. Afterwards the lock is held for about one lease
	 * ({@link #remaining()}), even if no further renewal succeeds, but not longer than
	 * its {@linkplain LockRequest#maxHold() maxHold}. Also renews a lease that is
	 * otherwise {@linkplain LockRequest#renew() not renewed}. Nested handles share the
	 * lease.
	 * <p>
	 * An interrupt of the thread may end the wait, with {@link LockStoreException}; the
	 * interrupt flag stays set.
	 * @throws LockLostException if the lease is over, or the store refuses the renewal
	 * because the lock was taken away
	 * @throws LockStoreException if the store did not answer; the lock is held for its
	 * {@linkplain #remaining() remaining} time, and the renewal is repeated in the
	 * background
	 * @throws IllegalStateException if this handle has been released
	 */
	void renewNow();

	/**
	 * Add a listener that is called when the lock is lost: at once if it has been lost,
	 * and never if this handle is released first. The end of a lease is noticed within
	 * about 100 milliseconds, also after the wall clock was set forward or the machine
	 * was suspended. The listener runs on one of a few threads that all listeners share,
	 * and should not block; its exceptions are logged.
	 * @param listener called once with this handle
	 */
	void onLost(Consumer<? super LockHandle> listener);

	/**
	 * The mode in which the lock was requested. A shared handle that is nested in an
	 * exclusive one shares its exclusive lock. A permit is held in exclusive mode.
	 * @return the mode
	 */
	default LockMode mode() {
		return LockMode.EXCLUSIVE;
	}

	/**
	 * Turn an exclusive lock into a shared one, in one step of the store: no exclusive
	 * request gets the lock in between, and shared requests that wait behind this lock
	 * get it too. The call releases this handle. The shared lock has a lease and a
	 * fencing token of its own, and is bound to the calling thread if this handle was
	 * bound to one.
	 * <p>
	 * Waits for one answer of the store. After an exception the lock is not held in
	 * either mode, unless stated otherwise below.
	 * @return the handle of the shared lock, to be closed by the caller
	 * @throws IllegalStateException if this handle is released or shared, if the lock has
	 * other (nested) handles, or if its {@code minHold} is not over; the lock is then
	 * held as before
	 * @throws LockLostException if the lease was over before, or the store had given the
	 * lock away or lost it, even if it is free again, or if the registry closed during
	 * the call
	 * @throws LockStoreException if the store failed
	 * @throws LockRegistryClosedException if the registry closes or is closed before the
	 * call; the lock is then held as before
	 * @throws IllegalArgumentException if the store has no shared locks; the lock is then
	 * held as before
	 * @throws UnsupportedOperationException if this handle has no lock of its own, or its
	 * lock is kept until the end of the transaction of the caller; the lock is then held
	 * as before
	 */
	default LockHandle downgrade() {
		throw new UnsupportedOperationException("This lock cannot be downgraded");
	}

	/**
	 * Release the lock. When this method returns, the lock is free for others, or
	 * reserved for the first request that waits for it, in this process or another. If
	 * the store does not answer, the release is repeated in the background, and the lock
	 * ends with its lease at the latest. No exception is thrown, since the work was done
	 * under the lock. With {@link ReleaseMode#ASYNC} this method does not wait for the
	 * store.
	 * <p>
	 * An interrupted thread releases the lock as well and keeps its interrupt flag.
	 * @throws LockLostException if the lease was over before the release, on the first
	 * call only
	 */
	void release();

	/**
	 * As {@link #release()}.
	 */
	@Override
	default void close() {
		release();
	}

	/**
	 * As {@link #release()}, without blocking the calling thread. The handle is released
	 * when this method returns; the future completes when the lock is free for others. It
	 * may complete on a thread of the library, which dependent stages must not block;
	 * cancelling it has no effect on the release.
	 * @return a future that completes when {@link #release()} would have returned, or
	 * exceptionally with the exception that it would have thrown
	 */
	default CompletableFuture<@Nullable Void> releaseAsync() {
		try {
			release();
			return CompletableFuture.completedFuture(null);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * The innermost lock that the calling thread holds. In reactive code, where threads
	 * change, use {@link ReactiveLockContext}.
	 * @return the handle, or empty outside any lock
	 */
	static Optional<LockHandle> current() {
		return LockContext.current();
	}

}
