package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.dlock.LockContext;
import io.dlock.LockHandle;

/**
 * A handle on a {@link Lease}, the first or a nested one.
 */
final class HeldLock implements LockHandle {

	private final LeaseLockRegistry registry;

	private final Lease lease;

	private final AtomicBoolean closed = new AtomicBoolean();

	private volatile LockContext.@Nullable Binding binding;

	private volatile boolean listening;

	HeldLock(LeaseLockRegistry registry, Lease lease) {
		this.registry = registry;
		this.lease = lease;
	}

	/**
	 * Make this the calling thread's innermost lock, until it is released.
	 * @return this handle
	 */
	HeldLock bindToThread() {
		this.binding = LockContext.bind(this);
		return this;
	}

	Lease lease() {
		return this.lease;
	}

	boolean belongsTo(LeaseLockRegistry other, String key) {
		return this.registry == other && !this.closed.get() && key().equals(key);
	}

	@Override
	public String key() {
		return this.lease.key();
	}

	@Override
	public long token() {
		return this.lease.token();
	}

	@Override
	public boolean isValid() {
		return !this.closed.get() && this.lease.isValid();
	}

	@Override
	public Duration remaining() {
		return isValid() ? Duration.ofNanos(Math.max(0, this.lease.validNanosLeft())) : Duration.ZERO;
	}

	@Override
	public void assertHeld() {
		if (this.lease.isLost()) {
			throw this.lease.lostException();
		}
		if (!isValid()) {
			throw new IllegalStateException("The handle of lock '" + key() + "' has been released");
		}
	}

	@Override
	public void onLost(Consumer<? super LockHandle> listener) {
		if (this.closed.get() && !this.lease.isLost()) {
			return;
		}
		this.listening = true;
		this.registry.keeper().onLost(this, listener);
	}

	@Override
	public void release() {
		if (!this.closed.compareAndSet(false, true)) {
			return;
		}
		LockContext.Binding bound = this.binding;
		if (bound != null) {
			bound.close();
		}
		if (this.listening) {
			this.registry.keeper().removeListeners(this);
		}
		if (this.lease.drop()) {
			this.registry.release(this.lease);
		}
		else if (this.lease.isLost()) {
			throw this.lease.lostException();
		}
	}

	boolean isClosed() {
		return this.closed.get();
	}

	@Override
	public String toString() {
		return "LockHandle[key=" + key() + ", token=" + token() + ", valid=" + isValid() + "]";
	}

}
