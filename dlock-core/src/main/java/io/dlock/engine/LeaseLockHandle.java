package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockStoreException;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.lease.HoldHandle;
import io.dlock.engine.lease.LeaseRenewer;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.transaction.KeepableHandle;

/**
 * A handle on a {@link Hold}, the first or a nested one.
 */
final class LeaseLockHandle implements HoldHandle, KeepableHandle {

	private final Hold hold;

	private final LeaseReleaser releaser;

	private final LeaseRenewer renewer;

	private final UnaryOperator<LeaseLockHandle> downgrade;

	private final boolean shared;

	private final AtomicBoolean closed = new AtomicBoolean();

	private volatile LockContext.@Nullable Binding binding;

	private volatile boolean listening;

	private volatile boolean kept;

	/** Set if a later loss of the lock concerns the other handles only. */
	private volatile boolean releasedInTime;

	LeaseLockHandle(Hold hold, boolean shared, LeaseReleaser releaser, LeaseRenewer renewer,
			UnaryOperator<LeaseLockHandle> downgrade) {
		this.hold = hold;
		this.shared = shared;
		this.releaser = releaser;
		this.renewer = renewer;
		this.downgrade = downgrade;
	}

	/**
	 * Make this the calling thread's innermost lock, until it is released.
	 * @return this handle
	 */
	LeaseLockHandle bindToThread() {
		try {
			this.binding = LockContext.bind(this);
			return this;
		}
		catch (Throwable ex) {
			releaseUnusedSoon();
			throw ex;
		}
	}

	@Override
	public Hold hold() {
		return this.hold;
	}

	@Override
	public LockMode mode() {
		return this.shared ? LockMode.SHARED : LockMode.EXCLUSIVE;
	}

	/**
	 * Whether this handle is of the registry that has a releaser.
	 * @return whether it releases this handle
	 */
	boolean belongsTo(LeaseReleaser other) {
		return this.releaser == other;
	}

	boolean isOpen() {
		return !this.closed.get();
	}

	@Override
	public String key() {
		return this.hold.key();
	}

	@Override
	public long token() {
		return this.hold.token();
	}

	@Override
	public boolean isValid() {
		return !this.closed.get() && this.hold.isValid();
	}

	@Override
	public Duration remaining() {
		return isValid() ? Duration.ofNanos(Math.max(0, this.hold.validNanosLeft())) : Duration.ZERO;
	}

	@Override
	public void assertHeld() {
		if (isValid()) {
			return;
		}
		if (this.hold.isLost()) {
			throw this.hold.lostException();
		}
		throw released();
	}

	private IllegalStateException released() {
		return new IllegalStateException(
				"The handle of lock '" + StorageKey.of(key()) + "' has been released: acquire the lock again");
	}

	@Override
	public void renewNow() {
		assertHeld();
		if (this.renewer.renewNow(this.hold.lease()) == RenewResult.UNKNOWN) {
			assertHeld();
			throw new LockStoreException(key(), "renew",
					"The lock is held for another " + remaining().toMillis() + " ms unless a renewal succeeds", null);
		}
		assertHeld();
	}

	@Override
	public void onLost(Consumer<? super LockHandle> listener) {
		if (this.closed.get() && !isLost()) {
			return;
		}
		this.listening = true;
		addLossListener(listener);
	}

	/**
	 * Add a listener to a handle that was open a moment ago.
	 */
	void addLossListener(Consumer<? super LockHandle> listener) {
		if (!this.renewer.addLossListener(this.hold.lease(), this, listener)) {
			if (isLost()) {
				this.renewer.tell(() -> listener.accept(this));
			}
			return;
		}
		boolean lost = isLost();
		if (lost || this.closed.get()) {
			// the lease may go on without this handle
			List<Runnable> late = this.renewer.removeLossListeners(this.hold.lease(), this);
			if (lost) {
				late.forEach(this.renewer::tell);
			}
		}
	}

	@Override
	public void release() {
		if (!end()) {
			return;
		}
		if (this.hold.drop()) {
			this.releaser.release(this.hold);
		}
		else {
			leaveToOthers();
		}
	}

	/**
	 * End this handle, whose lock is released together with others.
	 * @return the hold, or {@code null} if other handles keep it or this one was ended
	 * before
	 * @throws LockLostException if other handles keep the lock and it has been lost
	 */
	@Nullable Hold endOfSet() {
		if (!end()) {
			return null;
		}
		if (this.hold.drop()) {
			return this.hold;
		}
		leaveToOthers();
		return null;
	}

	@Override
	public CompletableFuture<@Nullable Void> releaseAsync() {
		if (!end()) {
			return CompletableFuture.completedFuture(null);
		}
		try {
			if (this.hold.drop()) {
				return this.releaser.releaseAsync(this.hold);
			}
			leaveToOthers();
			return CompletableFuture.completedFuture(null);
		}
		catch (LockLostException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public boolean isPermit() {
		LeaseTerms terms = this.hold.context().terms();
		return terms.isMember() && !terms.isShared();
	}

	@Override
	public void keep() {
		this.kept = true;
	}

	@Override
	public void keepOnly() {
		LockContext.Binding bound = this.binding;
		if (bound != null) {
			bound.keepOnly();
		}
	}

	@Override
	public LockHandle downgrade() {
		if (this.closed.get()) {
			throw released();
		}
		if (this.kept) {
			throw new UnsupportedOperationException(
					"Lock '%s' cannot be downgraded: it is kept until the transaction of the caller has ended. Begin the transaction inside the lock, or acquire the lock shared"
						.formatted(StorageKey.of(key())));
		}
		boolean bound = this.binding != null;
		LeaseLockHandle downgraded = this.downgrade.apply(this);
		return bound ? downgraded.bindToThread() : downgraded;
	}

	/**
	 * End this handle if it is the only one of its hold.
	 * @return whether the hold has no handle any more
	 */
	boolean endForDowngrade() {
		if (!this.hold.dropLast()) {
			return false;
		}
		if (!end()) {
			// another thread releases this handle, but has found it not to be the last
			this.releaser.release(this.hold);
			throw released();
		}
		return true;
	}

	/**
	 * End this handle.
	 * @return {@code false} if it was ended before
	 */
	private boolean end() {
		if (!this.closed.compareAndSet(false, true)) {
			return false;
		}
		LockContext.Binding bound = this.binding;
		if (bound != null) {
			bound.close();
		}
		if (this.listening) {
			this.renewer.removeLossListeners(this.hold.lease(), this);
		}
		return true;
	}

	/**
	 * Other handles keep the lock.
	 */
	private void leaveToOthers() {
		if (this.hold.isLost()) {
			throw this.hold.lostException();
		}
		this.releasedInTime = true;
	}

	/**
	 * Release a lock whose handle is not given out. The {@code minHold} stands if other
	 * handles keep the lock.
	 */
	void releaseUnused() {
		if (end() && this.hold.drop()) {
			this.hold.waiveMinHold();
			this.releaser.release(this.hold);
		}
	}

	/**
	 * As {@link #releaseUnused()}, without waiting for the store.
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // a lost lock is unused too
	void releaseUnusedSoon() {
		if (end() && this.hold.drop()) {
			this.hold.waiveMinHold();
			this.releaser.releaseAsync(this.hold);
		}
	}

	/**
	 * Whether the lock was lost before this handle was released.
	 */
	private boolean isLost() {
		return !this.releasedInTime && this.hold.isLost();
	}

	@Override
	public String toString() {
		return "LockHandle[key=" + StorageKey.of(key()) + ", token=" + token() + ", valid=" + isValid() + "]";
	}

}
