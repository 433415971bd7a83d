package io.dlock.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.LockException;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.MachineClock.Moment;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.store.AcquireResult;
import io.dlock.store.StorageKey;

/**
 * The locks of a set that are requested ahead, in the call for the one before them, as
 * far as no other request of this process holds or waits for them. The locks up to the
 * first that is not granted are kept. Those behind it are given back, since they must not
 * be held while the caller waits for a lower key, and are requested again later.
 * <p>
 * The request for the first lock uses this object in three steps: it takes places in the
 * queues of the keys ({@link #join}), calls the store ({@link #ask}) and begins the
 * granted locks ({@link #settle}). The caller that has the first lock takes the others
 * ({@link #next}) and closes this object, possibly before the store has answered.
 */
final class PrefetchedLocks implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(PrefetchedLocks.class);

	private final List<Acquisition> acquisitions;

	private final RequestServices services;

	/** The places were taken: the locks are requested once. */
	private boolean over;

	private @Nullable Moment sent;

	private List<AcquireResult> results = List.of();

	/** The first places in the queues of the first keys. */
	private final List<QueuedRequest> joined = new ArrayList<>();

	/** Guarded by this object, as the following two. */
	private final Deque<Hold> granted = new ArrayDeque<>();

	private @Nullable Acquisition stopped;

	private boolean closed;

	/**
	 * Create prefetched locks.
	 * @param acquisitions the requests, in the order of their storage keys
	 */
	PrefetchedLocks(List<Acquisition> acquisitions, RequestServices services) {
		this.acquisitions = acquisitions;
		this.services = services;
	}

	boolean isEmpty() {
		return this.acquisitions.isEmpty();
	}

	/**
	 * Take the places in the queues of the keys, up to the first that has a request.
	 * @return whether to ask for locks together; {@code false} after the first call
	 */
	boolean join() {
		for (int i = 0; i < this.acquisitions.size() && !this.over; i++) {
			QueuedRequest queued = this.services.queues().joinAlone(this.acquisitions.get(i).context());
			if (queued == null) {
				break;
			}
			this.joined.add(queued);
		}
		this.over = true;
		return !this.joined.isEmpty();
	}

	/**
	 * Call the store once for all.
	 * @param first the request for the lock before these
	 * @param queued its place, the first of its queue
	 * @param now the time of the call
	 * @return the answer for the first
	 */
	AcquireResult ask(Acquisition first, QueuedRequest queued, Moment now) {
		List<StoreAcquirer.Attempt> all = Stream
			.concat(Stream.of(first), this.acquisitions.stream().limit(this.joined.size()))
			.map((each) -> new StoreAcquirer.Attempt(each.context(), each.owner()))
			.toList();
		this.sent = now;
		try {
			this.results = this.services.store().acquireAll(queued, all, now);
			return this.results.get(0);
		}
		catch (Exception ex) {
			return Acquisition.unknown(ex);
		}
	}

	/**
	 * Begin the locks that the store has granted, and give back the unusable ones. A
	 * failure concerns the one lock only, which is revoked.
	 * @param holdsFirst whether the lock before these was granted
	 */
	void settle(boolean holdsFirst) {
		Deque<Hold> kept = new ArrayDeque<>();
		Acquisition last = null;
		for (int i = 0; i < this.joined.size(); i++) {
			Hold hold = accept(i);
			if (hold != null && holdsFirst && last == null) {
				kept.add(hold);
			}
			else if (hold != null) {
				this.services.handles().discardSoon(hold);
			}
			else if (holdsFirst && last == null) {
				last = this.acquisitions.get(i);
			}
		}
		this.joined.clear();
		keep(kept, last);
	}

	private @Nullable Hold accept(int index) {
		Acquisition acquisition = this.acquisitions.get(index);
		QueuedRequest queued = this.joined.get(index);
		Hold hold = null;
		try {
			hold = acquisition.accept(queued, Objects.requireNonNull(this.sent), result(index));
		}
		catch (Throwable ex) {
			logger.debug("Lock '" + StorageKey.of(acquisition.context().key()) + "' was granted but could not be used",
					ex);
		}
		finally {
			if (hold == null) {
				acquisition.leave(queued);
			}
		}
		return hold;
	}

	/**
	 * The answer for a lock. A call that failed, or a store with a bug, leaves it open.
	 */
	private AcquireResult result(int index) {
		return (index + 1 < this.results.size()) ? this.results.get(index + 1)
				: Acquisition.unknown(new IllegalStateException("The store gave no answer for this key"));
	}

	private void keep(Deque<Hold> kept, @Nullable Acquisition last) {
		synchronized (this) {
			if (!this.closed) {
				this.granted.addAll(kept);
				this.stopped = (last != null) ? last : this.stopped;
				return;
			}
		}
		kept.forEach(this.services.handles()::discardSoon);
	}

	/**
	 * Take the next lock.
	 * @return its handle, or {@code null} if the rest has to be requested again
	 * @throws LockException if there is no time left for that
	 */
	@Nullable LeaseLockHandle next() {
		Hold hold;
		Acquisition last;
		synchronized (this) {
			hold = this.granted.poll();
			last = this.stopped;
		}
		if (hold != null) {
			return this.services.handles().deliver(hold, hold.context().deadline());
		}
		LockException reason = (last != null) ? last.giveUp() : null;
		if (last == null || reason == null
				|| (reason instanceof LockStoreException && Thread.currentThread().isInterrupted())) {
			return null;
		}
		this.services.events().refused(last.context(), reason);
		throw reason;
	}

	@Override
	public void close() {
		List<Hold> left;
		synchronized (this) {
			this.closed = true;
			left = List.copyOf(this.granted);
			this.granted.clear();
		}
		left.forEach(this.services.handles()::discardSoon);
	}

}
