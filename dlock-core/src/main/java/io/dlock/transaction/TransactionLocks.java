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
 * The locks that a transaction keeps because asynchronous methods were called in it. Two
 * calls for one key run one after the other, as they would without the transaction; the
 * second one shares the lock, which the transaction would otherwise keep from it.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what is watched is kept
final class TransactionLocks {

	private static final Log logger = LogFactory.getLog(TransactionLocks.class);

	/** The last call for each key. */
	private final Map<String, Call> calls = new HashMap<>();

	private final List<TransactionBoundHandle> kept = new ArrayList<>();

	private final List<LockContext.Binding> bindings = new ArrayList<>();

	private boolean done;

	private boolean rolledBack;

	/**
	 * A method is called in the transaction.
	 * @param key what it locks
	 * @param lossMatters whether somebody is to know of a loss during the commit
	 * @return keeps the lock
	 */
	synchronized LockRetention call(String key, boolean lossMatters) {
		Call call = new Call(key, lossMatters, this.calls.get(key));
		this.calls.put(key, call);
		return call;
	}

	/**
	 * Let the calling thread, whose transaction this is, hold what is kept for it.
	 */
	synchronized void bindToThread() {
		this.calls.keySet().forEach(this::bindToThread);
	}

	/**
	 * Let the calling thread, whose transaction this is, hold what is kept for it, unless
	 * a call with it still goes on.
	 * @param key the key it is about to lock
	 */
	synchronized void bindToThread(String key) {
		Call last = this.calls.get(key);
		LockHandle handle = (last != null && last.idle.isDone()) ? find(key) : null;
		if (handle != null && LockContext.find(key, (held) -> held == handle) == null) {
			this.bindings.add(LockContext.bind(handle));
		}
	}

	synchronized void unbindFromThread() {
		this.bindings.forEach(LockContext.Binding::close);
		this.bindings.clear();
	}

	private synchronized @Nullable LockHandle find(String key) {
		for (TransactionBoundHandle bound : this.kept) {
			if (bound.key().equals(key)) {
				return bound.handle();
			}
		}
		return null;
	}

	boolean keeps(String key) {
		return find(key) != null;
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
		}
		ending.forEach((bound) -> end(bound, nothingWritten));
	}

	/**
	 * What goes wrong with one does not concern the others.
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
		 * As long as the call before goes on, this one waits for the lock as anybody
		 * would, and no longer.
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
			if (this.before.isDone()) {
				ask(shared(outer), registry, acquired);
				return acquired;
			}
			CompletableFuture<LockHandle> waiting = ask(null, registry, acquired);
			this.before.thenRun(() -> {
				LockHandle shared = shared(outer);
				if (shared != null && !acquired.isDone() && waiting.cancel(false)) {
					ask(shared, registry, acquired);
				}
			});
			return acquired;
		}

		private @Nullable LockHandle shared(@Nullable LockHandle outer) {
			LockHandle keptHere = find(this.key);
			return (keptHere != null) ? keptHere : outer;
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
			synchronized (TransactionLocks.this) {
				if (!TransactionLocks.this.done) {
					TransactionLocks.this.kept.add(bound);
					return bound;
				}
			}
			bound.transactionDone(TransactionLocks.this.rolledBack);
			return bound;
		}

		@Override
		public void giveBack(LockHandle granted) {
			granted.releaseAsync();
			this.ended.complete(null);
		}

	}

}
