package io.dlock.transaction;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.LockContext;
import io.dlock.LockHandle;

/**
 * The locks that a transaction keeps until its end. Two asynchronous calls for one key
 * run one after the other, as they would without the transaction; the second one shares
 * the lock, which the transaction would otherwise keep from it.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the future that is watched is kept
final class TransactionLocks {

	private static final Log logger = LogFactory.getLog(TransactionLocks.class);

	/** The last call for each key. */
	private final Map<String, Call> calls = new HashMap<>();

	/** The first lock of the calls for each key. */
	private final Map<String, LockHandle> shared = new HashMap<>();

	private final List<TransactionBoundHandle> kept = new ArrayList<>();

	private final List<LockContext.Binding> bindings = new ArrayList<>();

	private boolean done;

	private boolean rolledBack;

	/**
	 * Keep the lock of a method that waits for its work.
	 * @param granted the lock
	 * @param lossMatters whether a loss during the commit is logged
	 * @return the handle to release when the method has returned
	 */
	LockHandle keep(LockHandle granted, boolean lossMatters) {
		TransactionBoundHandle bound = new TransactionBoundHandle(granted, lossMatters, () -> {
		});
		keep(bound, false);
		return bound;
	}

	private void keep(TransactionBoundHandle bound, boolean isShared) {
		synchronized (this) {
			if (!this.done) {
				this.kept.add(bound);
				if (isShared) {
					this.shared.putIfAbsent(bound.key(), bound.handle());
				}
				return;
			}
		}
		bound.transactionDone(this.rolledBack);
	}

	/**
	 * Begin an asynchronous call in the transaction.
	 * @param key the key that it locks
	 * @param lossMatters whether a loss during the commit is logged
	 * @return the retention of its lock
	 */
	synchronized LockRetention call(String key, boolean lossMatters) {
		Call call = new Call(key, lossMatters, this.calls.get(key));
		this.calls.put(key, call);
		return call;
	}

	/**
	 * Bind the kept locks to the calling thread, whose transaction this is.
	 */
	synchronized void bindToThread() {
		this.calls.keySet().forEach(this::bindToThread);
	}

	/**
	 * Bind a kept lock to the calling thread, whose transaction this is, unless a call
	 * with it still goes on.
	 * @param key the key that the thread is about to lock
	 */
	synchronized void bindToThread(String key) {
		Call last = this.calls.get(key);
		LockHandle handle = (last != null && last.idle.isDone()) ? this.shared.get(key) : null;
		if (handle != null && LockContext.find(key, (held) -> held == handle) == null) {
			this.bindings.add(LockContext.bind(handle));
		}
	}

	synchronized void unbindFromThread() {
		this.bindings.forEach(LockContext.Binding::close);
		this.bindings.clear();
	}

	/**
	 * The lock that asynchronous calls for a key share.
	 * @param key the key
	 * @return the lock, or {@code null} if there is none yet
	 */
	synchronized @Nullable LockHandle shared(String key) {
		return this.shared.get(key);
	}

	/**
	 * Whether a method runs under a lock, which not only the transaction keeps.
	 */
	private synchronized boolean isHeldByMethod(@Nullable LockHandle lock) {
		return lock != null && this.kept.stream().noneMatch((bound) -> bound.handle() == lock && bound.isReleased());
	}

	synchronized List<LockHandle> handles() {
		return this.kept.stream().map(TransactionBoundHandle::handle).toList();
	}

	synchronized boolean isDone() {
		return this.done;
	}

	/**
	 * The transaction is done. Waits for the store if there is something to release.
	 * @param nothingWritten whether it is certain that it was rolled back
	 */
	void transactionDone(boolean nothingWritten) {
		List<TransactionBoundHandle> ending;
		synchronized (this) {
			this.done = true;
			this.rolledBack = nothingWritten;
			unbindFromThread();
			ending = List.copyOf(this.kept);
			this.kept.clear();
			this.shared.clear();
		}
		ending.forEach((bound) -> end(bound, nothingWritten));
	}

	/**
	 * The failure of one release does not concern the others.
	 */
	private static void end(TransactionBoundHandle bound, boolean nothingWritten) {
		try {
			bound.transactionDone(nothingWritten);
		}
		catch (Throwable ex) {
			logger.warn("The release of a lock after its transaction failed", ex);
		}
	}

	/**
	 * A call of an asynchronous method.
	 */
	private final class Call implements LockRetention {

		private final String key;

		private final boolean lossMatters;

		private final CompletableFuture<@Nullable Void> before;

		private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

		/** This call and those before are done. */
		private final CompletableFuture<@Nullable Void> idle;

		private Call(String key, boolean lossMatters, @Nullable Call last) {
			this.key = key;
			this.lossMatters = lossMatters;
			this.before = (last != null) ? last.idle : CompletableFuture.completedFuture(null);
			this.idle = this.before.thenCombine(this.ended, (first, second) -> null);
		}

		/**
		 * A call within another one for the key is reentrant. As long as the call before
		 * goes on, this one waits for the lock as without a transaction, and no longer.
		 */
		@Override
		public CompletableFuture<LockHandle> acquire(@Nullable LockHandle outer,
				Function<@Nullable LockHandle, CompletableFuture<LockHandle>> registry) {
			CompletableFuture<LockHandle> acquired = new CompletableFuture<>();
			acquired.whenComplete((handle, failure) -> {
				if (failure != null) {
					this.ended.complete(null);
				}
			});
			if (isHeldByMethod(outer) || this.before.isDone()) {
				ask((outer != null) ? outer : shared(this.key), registry, acquired);
				return acquired;
			}
			CompletableFuture<LockHandle> waiting = ask(null, registry, acquired);
			this.before.thenRun(() -> {
				LockHandle kept = (outer != null) ? outer : shared(this.key);
				if (kept != null && !acquired.isDone() && waiting.cancel(false)) {
					ask(kept, registry, acquired);
				}
			});
			return acquired;
		}

		private CompletableFuture<LockHandle> ask(@Nullable LockHandle outer,
				Function<@Nullable LockHandle, CompletableFuture<LockHandle>> registry,
				CompletableFuture<LockHandle> acquired) {
			CompletableFuture<LockHandle> asked;
			try {
				asked = registry.apply(outer);
			}
			catch (Throwable ex) {
				acquired.completeExceptionally(ex);
				return acquired;
			}
			acquired.whenComplete((handle, failure) -> asked.cancel(false));
			asked.whenComplete((handle, failure) -> {
				if (asked.isCancelled()) {
					return;
				}
				if (failure != null) {
					acquired.completeExceptionally(failure);
				}
				else if (!acquired.complete(handle)) {
					handle.releaseAsync();
				}
			});
			return asked;
		}

		@Override
		public LockHandle keep(LockHandle granted) {
			TransactionBoundHandle bound = new TransactionBoundHandle(granted, this.lossMatters,
					() -> this.ended.complete(null));
			TransactionLocks.this.keep(bound, true);
			return bound;
		}

		@Override
		public void giveBack(LockHandle granted) {
			granted.releaseAsync();
			this.ended.complete(null);
		}

	}

}
