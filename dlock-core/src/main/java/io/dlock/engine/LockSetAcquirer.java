package io.dlock.engine;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.LockBusyException;
import io.dlock.LockContext;
import io.dlock.LockException;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.lease.Hold;
import io.dlock.store.StorageKey;

/**
 * Acquires several locks, all or none. All callers ask for them in one order, that of the
 * storage keys, so that they cannot wait for each other in a circle.
 */
final class LockSetAcquirer {

	private static final Log logger = LogFactory.getLog(LockSetAcquirer.class);

	private final LockAcquirer acquirer;

	private final LeaseLockHandles handles;

	private final AtomicBoolean disorderTold = new AtomicBoolean();

	LockSetAcquirer(LockAcquirer acquirer, LeaseLockHandles handles) {
		this.acquirer = acquirer;
		this.handles = handles;
	}

	LockSet acquire(LockRequest template, Collection<String> keys) {
		List<LockRequest> requests = requests(template, keys);
		Deadline deadline = this.acquirer.deadline(template);
		List<LeaseLockHandle> granted = new ArrayList<>(requests.size());
		Thread caller = Thread.currentThread();
		try {
			for (int watched = 0; granted.size() < requests.size();) {
				watched = onLost(granted, watched, () -> {
					deadline.end();
					LockSupport.unpark(caller);
				});
				acquireNext(requests.subList(granted.size(), requests.size()), deadline, granted);
			}
			granted.forEach(LockHandle::assertHeld);
			return this.handles.set(granted);
		}
		catch (Throwable ex) {
			Throwable reason = lossOr(ex, granted);
			giveBack(granted);
			if (reason instanceof LockException ended) {
				throw ended;
			}
			throw ex;
		}
	}

	/**
	 * Watch the locks that are held while the caller waits for the next.
	 * @param watched how many of them are watched already
	 * @param action the action if one of them is lost
	 * @return how many are watched now
	 */
	private static int onLost(List<LeaseLockHandle> granted, int watched, Runnable action) {
		granted.subList(watched, granted.size()).forEach((handle) -> handle.onLost((lost) -> action.run()));
		return granted.size();
	}

	/**
	 * The reason for which a set fails: the wait for the next lock ends if one is lost,
	 * as all are when the registry closes.
	 */
	private static Throwable lossOr(Throwable failure, List<LeaseLockHandle> granted) {
		boolean ended = failure instanceof LockBusyException || failure instanceof LockLostException
				|| failure instanceof CancellationException;
		return ended ? granted.stream()
			.map(LeaseLockHandle::hold)
			.filter(Hold::isLost)
			.findFirst()
			.<Throwable>map(Hold::lossOfSet)
			.orElse(failure) : failure;
	}

	/**
	 * Acquire the next lock, and those behind it that are free.
	 */
	private void acquireNext(List<LockRequest> rest, Deadline deadline, List<LeaseLockHandle> granted) {
		LockRequest request = rest.get(0);
		try (PrefetchedLocks prefetched = prefetched(this.acquirer, rest, deadline,
				(other) -> LockContext.find(other.key()) != null)) {
			granted.add(this.acquirer.acquire(request, deadline, true, prefetched));
			for (LeaseLockHandle next = prefetched.next(); next != null; next = prefetched.next()) {
				granted.add(next.bindToThread());
			}
		}
	}

	/**
	 * The requests behind the first, up to one that is nested in a lock of the caller.
	 */
	private static PrefetchedLocks prefetched(LockAcquirer acquirer, List<LockRequest> rest, Deadline deadline,
			Predicate<LockRequest> nested) {
		List<LockRequest> others = rest.subList(1, rest.size()).stream().takeWhile(nested.negate()).toList();
		return acquirer.prefetched(others, deadline);
	}

	CompletableFuture<LockSet> acquireAsync(LockRequest template, Collection<String> keys,
			Collection<? extends LockHandle> outer) {
		List<LockRequest> requests = requests(template, keys);
		Map<String, LockHandle> held = new HashMap<>();
		outer.stream().filter(this.handles::isLock).forEach((handle) -> held.putIfAbsent(handle.key(), handle));
		return new AsyncSet(requests, held, this.acquirer, this.handles, this.acquirer.deadline(template)).start();
	}

	/**
	 * Release the locks of a set that is not complete, together and without waiting: the
	 * wait of the caller is over.
	 */
	static void giveBack(List<LeaseLockHandle> granted) {
		granted.forEach(LeaseLockHandle::releaseUnusedSoon);
	}

	private List<LockRequest> requests(LockRequest template, Collection<String> keys) {
		List<LockRequest> requests = keys.stream()
			.map(template::withKey)
			.distinct()
			.sorted(Comparator.comparing((request) -> StorageKey.of(request.key())))
			.toList();
		if (requests.isEmpty() || requests.size() > LockSet.MAX_KEYS) {
			throw new IllegalArgumentException("'keys' must have 1 to %d keys but has %d: %s"
				.formatted(LockSet.MAX_KEYS, requests.size(), requests.isEmpty()
						? "a set without a lock protects nothing" : "lock what they have in common instead"));
		}
		warnOfDisorder(requests);
		return requests;
	}

	/**
	 * A thread that holds a higher key already may wait for a caller that waits for that
	 * key. Locks of other registries have an order of their own, and permits are taken
	 * before locks or after them.
	 */
	private void warnOfDisorder(List<LockRequest> requests) {
		if (this.disorderTold.get()) {
			return;
		}
		List<LockHandle> held = LockContext.all().stream().filter(this.handles::isLock).toList();
		String lowest = held.isEmpty() ? null : lowestNotHeld(requests);
		if (lowest == null) {
			return;
		}
		for (LockHandle handle : held) {
			String key = StorageKey.of(handle.key());
			if (lowest.compareTo(key) < 0 && this.disorderTold.compareAndSet(false, true)) {
				logger.warn(
						("Lock '%s' is requested by a thread that holds '%s': callers that lock them in the other order"
								+ " wait for each other until their wait time is over. Lock all keys in one call. "
								+ "This is logged once")
							.formatted(lowest, key));
			}
		}
	}

	private @Nullable String lowestNotHeld(List<LockRequest> requests) {
		return requests.stream()
			.filter((request) -> this.handles.find(request.key()) == null)
			.findFirst()
			.map((request) -> StorageKey.of(request.key()))
			.orElse(null);
	}

	/**
	 * Acquires several locks without a waiting thread.
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // the one that a caller cancels is kept
	private static final class AsyncSet {

		private final List<LockRequest> requests;

		/** The handles that the caller holds, by key. */
		private final Map<String, LockHandle> held;

		private final LockAcquirer acquirer;

		private final LeaseLockHandles handles;

		private final Deadline deadline;

		private final CompletableFuture<LockSet> future = new CompletableFuture<>();

		/** Used by one thread after the other. */
		private final List<LeaseLockHandle> granted;

		private int watched;

		private volatile boolean lost;

		private volatile @Nullable CompletableFuture<LockHandle> current;

		private AsyncSet(List<LockRequest> requests, Map<String, LockHandle> held, LockAcquirer acquirer,
				LeaseLockHandles handles, Deadline deadline) {
			this.requests = requests;
			this.granted = new ArrayList<>(requests.size());
			this.held = held;
			this.acquirer = acquirer;
			this.handles = handles;
			this.deadline = deadline;
		}

		CompletableFuture<LockSet> start() {
			this.future.whenComplete((set, failure) -> cancelCurrent());
			acquireNext();
			return this.future;
		}

		private void acquireNext() {
			List<LockRequest> rest = this.requests.subList(this.granted.size(), this.requests.size());
			LockRequest request = rest.get(0);
			LockHandle outer = this.held.get(request.key());
			PrefetchedLocks prefetched = prefetched(this.acquirer, rest, this.deadline,
					(other) -> this.held.containsKey(other.key()));
			CompletableFuture<LockHandle> next = (outer != null)
					? this.acquirer.acquireAsync(request, this.deadline, outer)
					: this.acquirer.acquireAsync(request, this.deadline, prefetched);
			this.current = next;
			if (this.future.isDone() || this.lost) {
				next.cancel(false);
			}
			this.watched = onLost(this.granted, this.watched, () -> {
				this.lost = true;
				cancelCurrent();
			});
			next.whenComplete((handle, failure) -> answered(handle, failure, prefetched));
		}

		private void cancelCurrent() {
			CompletableFuture<LockHandle> waiting = this.current;
			if (waiting != null) {
				waiting.cancel(false);
			}
		}

		private void answered(@Nullable LockHandle handle, @Nullable Throwable failure, PrefetchedLocks prefetched) {
			Throwable reason = failure;
			try (prefetched) {
				if (handle != null) {
					this.granted.add((LeaseLockHandle) handle);
					addAll(prefetched);
				}
			}
			catch (Throwable ex) {
				reason = ex;
			}
			if (reason != null || this.future.isDone()) {
				end(reason);
			}
			else if (this.granted.size() < this.requests.size()) {
				proceed();
			}
			else {
				complete();
			}
		}

		private void addAll(PrefetchedLocks prefetched) {
			for (LeaseLockHandle next = prefetched.next(); next != null; next = prefetched.next()) {
				this.granted.add(next);
			}
		}

		private void complete() {
			try {
				this.granted.forEach(LockHandle::assertHeld);
				if (!this.future.complete(this.handles.set(this.granted))) {
					end(null);
				}
			}
			catch (Throwable ex) {
				end(ex);
			}
		}

		private void proceed() {
			try {
				acquireNext();
			}
			catch (Throwable ex) {
				end(ex);
			}
		}

		private void end(@Nullable Throwable failure) {
			Throwable reason = lossOr((failure != null) ? failure : new CancellationException(), this.granted);
			giveBack(this.granted);
			this.future.completeExceptionally(reason);
		}

	}

}
