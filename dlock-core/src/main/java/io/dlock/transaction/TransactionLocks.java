package io.dlock.transaction;

import java.util.ArrayList;
import java.util.Collection;
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
import io.dlock.LockRegistry;
import io.dlock.LockSet;
import io.dlock.store.StorageKey;

/**
 * The locks that a transaction keeps until its end. Two asynchronous calls for one key
 * run one after the other, as they would without the transaction; the second one shares
 * the lock, which the transaction would otherwise keep from it.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the future that is watched is kept
final class TransactionLocks {

	private static final Log logger = LogFactory.getLog(TransactionLocks.class);

	/** The last call for each key. */
	private final Map<KeyOf, Call> calls = new HashMap<>();

	/** The first lock of the calls for each key. */
	private final Map<KeyOf, LockHandle> shared = new HashMap<>();

	private final List<TransactionBoundHandle> kept = new ArrayList<>();

	private final List<LockContext.Binding> bindings = new ArrayList<>();

	private boolean done;

	private boolean rolledBack;

	/**
	 * Keep the locks of a method that waits for its work.
	 * @param lossIgnored whether a loss during the commit is not logged
	 * @return the locks to release when the method has returned
	 */
	LockSet keep(LockSet granted, boolean lossIgnored) {
		return keep(granted, lossIgnored, null, () -> {
		});
	}

	private LockSet keep(LockSet granted, boolean lossIgnored, @Nullable LockRegistry sharedIn, Runnable onRelease) {
		List<LockHandle> bound = new ArrayList<>();
		for (LockHandle handle : granted.handles()) {
			// the first is released last
			TransactionBoundHandle each = new TransactionBoundHandle(handle, lossIgnored,
					bound.isEmpty() ? onRelease : () -> {
					});
			keep(each, sharedIn);
			bound.add(each);
		}
		return LockSet.of(bound);
	}

	private void keep(TransactionBoundHandle bound, @Nullable LockRegistry sharedIn) {
		synchronized (this) {
			if (!this.done) {
				this.kept.add(bound);
				if (bound.handle() instanceof KeepableHandle handle) {
					handle.keep();
				}
				if (sharedIn != null) {
					this.shared.putIfAbsent(new KeyOf(sharedIn, bound.key()), bound.handle());
				}
				return;
			}
		}
		bound.transactionDone(this.rolledBack);
	}

	/**
	 * Begin an asynchronous call in the transaction.
	 * @param keys the keys that it locks
	 * @param lossIgnored whether a loss during the commit is not logged
	 */
	synchronized AsyncLockRetention call(LockRegistry registry, List<String> keys, boolean lossIgnored) {
		Map<String, CompletableFuture<?>> before = new HashMap<>();
		List<CompletableFuture<?>> turn = new ArrayList<>();
		for (String key : keys) {
			Call last = this.calls.get(new KeyOf(registry, key));
			before.put(key, (last != null) ? last.idle : CompletableFuture.completedFuture(null));
			if (last != null && keys.size() + last.before.size() > 2) {
				turn.add(last.answered);
			}
		}
		Call call = new Call(registry, before, all(turn), lossIgnored);
		keys.forEach((key) -> this.calls.put(new KeyOf(registry, key), call));
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
	void bindToThread(LockRegistry registry, String key) {
		bindToThread(new KeyOf(registry, key));
	}

	private synchronized void bindToThread(KeyOf key) {
		Call last = this.calls.get(key);
		LockHandle handle = (last != null && last.idle.isDone()) ? this.shared.get(key) : null;
		if (handle != null && LockContext.find(key.key(), (held) -> held == handle) == null) {
			LockContext.Binding binding = LockContext.bind(handle);
			binding.keepOnly();
			this.bindings.add(binding);
		}
	}

	synchronized void unbindFromThread() {
		this.bindings.forEach(LockContext.Binding::close);
		this.bindings.clear();
	}

	/**
	 * The lock that asynchronous calls for a key share.
	 * @return the lock, or {@code null} if there is none yet
	 */
	synchronized @Nullable LockHandle shared(LockRegistry registry, String key) {
		return this.shared.get(new KeyOf(registry, key));
	}

	/**
	 * Whether a method runs under a lock, which not only the transaction keeps.
	 */
	private synchronized boolean isHeldByMethod(LockHandle lock) {
		return this.kept.stream().noneMatch((bound) -> bound.handle() == lock && bound.isReleased());
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
			logger.warn("Lock '" + StorageKey.of(bound.key()) + "' could not be released after its transaction. "
					+ "It ends with its lease at the latest", ex);
		}
	}

	private static CompletableFuture<?> all(Collection<CompletableFuture<?>> futures) {
		return CompletableFuture.allOf(futures.toArray(CompletableFuture<?>[]::new));
	}

	/**
	 * A key of one of the registries.
	 */
	private record KeyOf(LockRegistry registry, String key) {

	}

	/**
	 * A call of an asynchronous method.
	 */
	private final class Call implements AsyncLockRetention {

		private final LockRegistry registry;

		/** The ends of the calls before, by key. */
		private final Map<String, CompletableFuture<?>> before;

		/** Until then, a call before may lack a key that this one would take from it. */
		private final CompletableFuture<?> turn;

		private final boolean lossIgnored;

		/** The locks are granted, or will never be. */
		private final CompletableFuture<@Nullable Void> answered = new CompletableFuture<>();

		private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

		/** This call and those before are done. */
		private final CompletableFuture<?> idle;

		private Call(LockRegistry registry, Map<String, CompletableFuture<?>> before, CompletableFuture<?> turn,
				boolean lossIgnored) {
			this.registry = registry;
			this.before = before;
			this.turn = turn;
			this.lossIgnored = lossIgnored;
			this.idle = CompletableFuture.allOf(all(before.values()), this.ended);
		}

		/**
		 * A call within another one for a key is reentrant. As long as a call before goes
		 * on, this one waits for the lock as without a transaction, and no longer.
		 */
		@Override
		public CompletableFuture<LockSet> acquire(List<LockHandle> outer,
				Function<List<LockHandle>, CompletableFuture<LockSet>> registry) {
			CompletableFuture<LockSet> acquired = new CompletableFuture<>();
			acquired.whenComplete((locks, failure) -> {
				if (failure != null) {
					this.ended.complete(null);
				}
				this.answered.complete(null);
			});
			this.turn.thenRun(() -> begin(outer, registry, acquired));
			return acquired;
		}

		private void begin(List<LockHandle> outer, Function<List<LockHandle>, CompletableFuture<LockSet>> registry,
				CompletableFuture<LockSet> acquired) {
			List<LockHandle> within = outer.stream().filter(TransactionLocks.this::isHeldByMethod).toList();
			Map<String, CompletableFuture<?>> others = new HashMap<>(this.before);
			within.forEach((handle) -> others.remove(handle.key()));
			CompletableFuture<?> done = all(others.values());
			if (done.isDone()) {
				ask(kept(outer), registry, acquired);
				return;
			}
			CompletableFuture<LockSet> waiting = ask(within, registry, acquired);
			done.thenRun(() -> {
				List<LockHandle> kept = kept(outer);
				if (!kept.isEmpty() && !acquired.isDone() && waiting.cancel(false)) {
					ask(kept, registry, acquired);
				}
			});
		}

		/**
		 * The locks that the caller holds, and those that earlier calls have left to the
		 * transaction.
		 */
		private List<LockHandle> kept(List<LockHandle> outer) {
			List<LockHandle> kept = new ArrayList<>(outer);
			for (String key : this.before.keySet()) {
				LockHandle left = shared(this.registry, key);
				if (left != null && outer.stream().noneMatch((handle) -> handle.key().equals(key))) {
					kept.add(left);
				}
			}
			return kept;
		}

		private CompletableFuture<LockSet> ask(List<LockHandle> outer,
				Function<List<LockHandle>, CompletableFuture<LockSet>> registry, CompletableFuture<LockSet> acquired) {
			CompletableFuture<LockSet> asked;
			try {
				asked = registry.apply(outer);
			}
			catch (Throwable ex) {
				acquired.completeExceptionally(ex);
				return acquired;
			}
			acquired.whenComplete((locks, failure) -> asked.cancel(false));
			asked.whenComplete((locks, failure) -> {
				if (asked.isCancelled()) {
					return;
				}
				if (failure != null) {
					acquired.completeExceptionally(failure);
				}
				else if (!acquired.complete(locks)) {
					locks.releaseAsync();
				}
			});
			return asked;
		}

		@Override
		public LockSet keep(LockSet granted) {
			return TransactionLocks.this.keep(granted, this.lossIgnored, this.registry,
					() -> this.ended.complete(null));
		}

		@Override
		public void giveBack(LockSet granted) {
			granted.releaseAsync();
			this.ended.complete(null);
		}

	}

}
