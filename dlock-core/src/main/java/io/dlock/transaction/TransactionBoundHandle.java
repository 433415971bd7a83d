package io.dlock.transaction;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.store.StorageKey;

/**
 * A lock that was taken inside a transaction: it is released when both the method and the
 * transaction are done. Usually the method is first; but a method may end the transaction
 * itself, and a transaction may time out on another thread.
 */
final class TransactionBoundHandle implements LockHandle {

	private static final Log logger = LogFactory.getLog(TransactionBoundHandle.class);

	private final LockHandle handle;

	private final boolean lossIgnored;

	private final AtomicBoolean released = new AtomicBoolean();

	/** How many of method and transaction still use the lock. */
	private final AtomicInteger users = new AtomicInteger(2);

	private final Runnable onRelease;

	/**
	 * Create the handle of a lock that the method and the transaction use.
	 * @param lossIgnored whether a loss during the commit is not logged
	 * @param onRelease run when the method is done
	 */
	TransactionBoundHandle(LockHandle handle, boolean lossIgnored, Runnable onRelease) {
		this.handle = handle;
		this.lossIgnored = lossIgnored;
		this.onRelease = onRelease;
	}

	LockHandle handle() {
		return this.handle;
	}

	boolean isReleased() {
		return this.released.get();
	}

	/**
	 * The method is done. The lock is kept, but a loss is thrown now, as by a release.
	 */
	@Override
	public void release() {
		if (!this.released.compareAndSet(false, true)) {
			return;
		}
		try {
			if (this.users.decrementAndGet() == 0) {
				this.handle.release();
			}
			else {
				leaveToTransaction();
			}
		}
		finally {
			this.onRelease.run();
		}
	}

	@Override
	public CompletableFuture<@Nullable Void> releaseAsync() {
		if (!this.released.compareAndSet(false, true)) {
			return CompletableFuture.completedFuture(null);
		}
		try {
			if (this.users.decrementAndGet() == 0) {
				return this.handle.releaseAsync();
			}
			leaveToTransaction();
			return CompletableFuture.completedFuture(null);
		}
		catch (LockLostException ex) {
			return CompletableFuture.failedFuture(ex);
		}
		finally {
			this.onRelease.run();
		}
	}

	private void leaveToTransaction() {
		if (this.handle instanceof KeepableHandle keepable) {
			keepable.keepOnly();
		}
		if (this.handle.isValid()) {
			return;
		}
		try {
			this.handle.assertHeld();
		}
		catch (IllegalStateException ex) {
			logger.debug("The method has released its lock itself", ex);
		}
	}

	/**
	 * The transaction is done. A loss is logged, because no caller would catch it.
	 * @param nothingWritten whether it is certain that it was rolled back
	 */
	void transactionDone(boolean nothingWritten) {
		if (this.users.decrementAndGet() > 0) {
			return;
		}
		try {
			this.handle.release();
		}
		catch (LockLostException ex) {
			if (!nothingWritten && !this.lossIgnored) {
				logger
					.warn("Lock '" + StorageKey.of(key()) + "' was lost during the commit of the transaction that kept "
							+ "it. Check the data that the transaction has written", ex);
			}
		}
	}

	@Override
	public String key() {
		return this.handle.key();
	}

	@Override
	public LockMode mode() {
		return this.handle.mode();
	}

	@Override
	public boolean isPermit() {
		return this.handle.isPermit();
	}

	@Override
	public long token() {
		return this.handle.token();
	}

	@Override
	public boolean isValid() {
		return this.handle.isValid();
	}

	@Override
	public Duration remaining() {
		return this.handle.remaining();
	}

	@Override
	public void assertHeld() {
		this.handle.assertHeld();
	}

	@Override
	public void renewNow() {
		this.handle.renewNow();
	}

	@Override
	public void onLost(Consumer<? super LockHandle> listener) {
		this.handle.onLost(listener);
	}

	@Override
	public String toString() {
		return this.handle.toString();
	}

}
