package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import io.dlock.LockBusyException;
import io.dlock.LockInterruptedException;
import io.dlock.LockRequest;
import io.dlock.store.StorageKey;

/**
 * A key as a {@link Lock}. The handle belongs to the thread that locked the key and not
 * to the adapter, so that adapters of one key are interchangeable.
 */
final class LockAdapter implements Lock {

	private final LockRequest request;

	private final LockAcquirer acquirer;

	private final LeaseLockHandles handles;

	LockAdapter(LockRequest request, LockAcquirer acquirer, LeaseLockHandles handles) {
		this.request = request;
		this.acquirer = acquirer;
		this.handles = handles;
	}

	@Override
	public void lock() {
		this.acquirer.acquire(this.request, LockRequest.FOREVER, false);
	}

	@Override
	public void lockInterruptibly() throws InterruptedException {
		acquireInterruptibly(LockRequest.FOREVER);
	}

	@Override
	public boolean tryLock() {
		try {
			this.acquirer.acquire(this.request, Duration.ZERO, false);
			return true;
		}
		catch (LockBusyException ex) {
			return false;
		}
	}

	@Override
	public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
		try {
			acquireInterruptibly((time > 0) ? Duration.ofNanos(unit.toNanos(time)) : Duration.ZERO);
			return true;
		}
		catch (LockBusyException ex) {
			return false;
		}
	}

	private void acquireInterruptibly(Duration waitTime) throws InterruptedException {
		if (Thread.interrupted()) {
			throw new InterruptedException();
		}
		try {
			this.acquirer.acquire(this.request, waitTime, true);
		}
		catch (LockInterruptedException ex) {
			Thread.interrupted();
			InterruptedException interrupted = new InterruptedException(ex.getMessage());
			interrupted.initCause(ex);
			throw interrupted;
		}
	}

	@Override
	public void unlock() {
		LeaseLockHandle handle = this.handles.find(this.request);
		if (handle == null) {
			boolean otherwise = this.handles.find(this.request.key()) != null;
			throw new IllegalMonitorStateException(
					"Lock '%s' is not held %sby thread %s".formatted(StorageKey.of(this.request.key()),
							otherwise ? "in this mode " : "", Thread.currentThread().getName()));
		}
		handle.release();
	}

	@Override
	public Condition newCondition() {
		throw new UnsupportedOperationException("A distributed lock has no conditions");
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof LockAdapter view && view.acquirer == this.acquirer && view.request.equals(this.request);
	}

	@Override
	public int hashCode() {
		return this.request.hashCode();
	}

	@Override
	public String toString() {
		return "Lock[" + StorageKey.of(this.request.key()) + "]";
	}

}
