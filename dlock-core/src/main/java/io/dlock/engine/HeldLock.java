package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.store.StorageKey;

/**
 * A handle on a {@link Hold}, the first or a nested one.
 */
final class HeldLock implements LockHandle {

	private final LeaseLockRegistry registry;

	private final Hold hold;

	private final AtomicBoolean closed = new AtomicBoolean();

	private volatile LockContext.@Nullable Binding binding;

	private volatile boolean listening;

	/** Released before the lock was lost, which concerns only the other handles then. */
	private volatile boolean releasedInTime;

	HeldLock(LeaseLockRegistry registry, Hold hold) {
		this.registry = registry;
		this.hold = hold;
	}

	/**
	 * Make this the calling thread's innermost lock, until it is released.
	 * @return this handle
	 */
	HeldLock bindToThread() {
		this.binding = LockContext.bind(this);
		return this;
	}

	Hold hold() {
		return this.hold;
	}

	boolean belongsTo(LeaseLockRegistry other, String key) {
		return this.registry == other && !this.closed.get() && key().equals(key);
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
		if (this.hold.isLost()) {
			throw this.hold.lostException();
		}
		if (!isValid()) {
			throw new IllegalStateException("The handle of lock '" + key() + "' has been released");
		}
	}

	@Override
	public void onLost(Consumer<? super LockHandle> listener) {
		if (this.closed.get() && !isLost()) {
			return;
		}
		this.listening = true;
		this.registry.keeper().onLost(this, listener);
	}

	@Override
	public void release() {
		if (!end()) {
			return;
		}
		if (this.hold.drop()) {
			this.registry.release(this.hold);
		}
		else {
			leaveToOthers();
		}
	}

	@Override
	public CompletableFuture<@Nullable Void> releaseAsync() {
		if (!end()) {
			return CompletableFuture.completedFuture(null);
		}
		try {
			if (this.hold.drop()) {
				return this.registry.releaseAsync(this.hold);
			}
			leaveToOthers();
			return CompletableFuture.completedFuture(null);
		}
		catch (LockLostException ex) {
			return CompletableFuture.failedFuture(ex);
		}
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
			this.registry.keeper().removeListeners(this);
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
	 * Release a lock that the one who asked for it will not get.
	 */
	void releaseUnused() {
		this.hold.unused();
		release();
	}

	/**
	 * Whether the lock was lost before this handle was released.
	 * @return whether there is a loss to tell of
	 */
	boolean isLost() {
		return !this.releasedInTime && this.hold.isLost();
	}

	boolean isClosed() {
		return this.closed.get();
	}

	@Override
	public String toString() {
		return "LockHandle[key=" + StorageKey.of(key()) + ", token=" + token() + ", valid=" + isValid() + "]";
	}

}
