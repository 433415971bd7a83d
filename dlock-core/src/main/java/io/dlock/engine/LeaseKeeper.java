package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.LockHandle;
import io.dlock.engine.MachineClock.Moment;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;

/**
 * Keeps the leases of this process: renews those that are due, many in one call to the
 * store and in the order of their ends, and declares those lost that are over.
 */
final class LeaseKeeper implements LeaseWatch {

	private static final Log logger = LogFactory.getLog(LeaseKeeper.class);

	/** The number of leases that a store renews well within its command timeout. */
	private static final int RENEWALS_AT_ONCE = 1000;

	/** The number of leases in a call if a part of the store does not answer. */
	private static final int GROWTH_WITHOUT_ANSWER = 10;

	private static final int MOST_RENEWALS_AT_ONCE = 100_000;

	/** Looking at all leases takes at most a tenth of the timer's time. */
	private static final long LOOK_PAUSE_PER_LEASE = Duration.ofNanos(1000).toNanos();

	private static final long MAX_LOOK_PAUSE = Duration.ofMillis(100).toNanos();

	private static final long PAUSE_AFTER_FAILURE = Duration.ofMillis(100).toNanos();

	private final LockStore store;

	private final MachineClock clock;

	private final EngineThreads threads;

	private final LockEvents events;

	private final Map<Lease, KeptLease> kept = new ConcurrentHashMap<>();

	private final Queue<KeptLease> due = new PriorityBlockingQueue<>();

	private final LeaseAlarm alarm;

	private final AtomicBoolean renewalScheduled = new AtomicBoolean();

	private final ReentrantLock ending = new ReentrantLock();

	private final Condition ended = this.ending.newCondition();

	/** Whether the end of a lease is waited for. */
	private volatile boolean awaited;

	LeaseKeeper(LockStore store, MachineClock clock, EngineThreads threads, LockEvents events) {
		this.store = store;
		this.clock = clock;
		this.threads = threads;
		this.events = events;
		this.alarm = new LeaseAlarm(threads::schedule, clock, this::tend);
	}

	MachineClock clock() {
		return this.clock;
	}

	/**
	 * Keep a lease. Done before anybody gets to see its handle.
	 * @param lease the lease
	 */
	void keep(Lease lease) {
		KeptLease keptLease = new KeptLease(lease, this);
		this.kept.put(lease, keptLease);
		wakeIn(keptLease.nanosUntilDue());
	}

	void wakeIn(long nanos) {
		this.alarm.wakeIn(nanos);
	}

	/**
	 * Look after all leases. What goes wrong with one does not concern the others.
	 */
	void tend() {
		long next = LeaseAlarm.NEVER;
		for (KeptLease lease : this.kept.values()) {
			try {
				next = Math.min(next, lease.tend());
			}
			catch (Throwable ex) {
				logger.warn("Could not look after lock '" + StorageKey.of(lease.lease().key()) + "'", ex);
				next = Math.min(next, PAUSE_AFTER_FAILURE);
			}
		}
		wakeIn(Math.max(next, Math.min(MAX_LOOK_PAUSE, this.kept.size() * LOOK_PAUSE_PER_LEASE)));
	}

	@Override
	public void lost(Hold hold, Loss loss) {
		List<Runnable> listeners = remove(hold.lease());
		hold.turn().end();
		listeners.forEach(this.threads::listener);
		this.events.lost(hold, loss);
		logger.warn("Lock '" + StorageKey.of(hold.key()) + "' (token " + hold.token() + ") was lost: " + loss.reason());
	}

	/**
	 * A lease is no longer this process's, whether somebody loses a lock by that or not.
	 * @param lease the lease
	 * @param loss why
	 * @return whether somebody lost a lock
	 */
	boolean end(Lease lease, Loss loss) {
		boolean lost = lease.lose(loss);
		remove(lease);
		return lost;
	}

	/**
	 * Stop keeping a lease that is being released or is lost.
	 * @param lease the lease
	 * @return whom to tell if it is lost
	 */
	List<Runnable> remove(Lease lease) {
		KeptLease keptLease = this.kept.remove(lease);
		if (this.awaited) {
			signalEnd();
		}
		return (keptLease != null) ? keptLease.end() : Collections.emptyList();
	}

	void removeListeners(HeldLock handle) {
		KeptLease keptLease = this.kept.get(handle.hold().lease());
		if (keptLease != null) {
			keptLease.removeLossListeners(handle);
		}
	}

	void onLost(HeldLock handle, Consumer<? super LockHandle> listener) {
		KeptLease keptLease = this.kept.get(handle.hold().lease());
		if (keptLease != null && keptLease.addLossListener(handle, listener)) {
			if (handle.isClosed()) {
				// released meanwhile: the lease may go on without this handle
				keptLease.removeLossListeners(handle);
			}
			return;
		}
		if (handle.isLost()) {
			this.threads.listener(() -> listener.accept(handle));
		}
	}

	void renew(KeptLease lease) {
		this.due.add(lease);
		if (this.renewalScheduled.compareAndSet(false, true)) {
			try {
				this.threads.renewal(this::renewDue);
			}
			catch (Throwable ex) {
				// no thread could be started: this attempt is lost, the next may succeed
				this.renewalScheduled.set(false);
				this.due.remove(lease);
				lease.renewalAnswered(RenewResult.UNKNOWN, this.clock.now());
			}
		}
	}

	/**
	 * A lease that becomes due meanwhile and ends earlier goes before those that are
	 * left. If only a part of the store answers, as when a node of a cluster is down,
	 * each call takes as long as its timeout, so that few calls have to suffice.
	 */
	private void renewDue() {
		this.renewalScheduled.set(false);
		int atOnce = RENEWALS_AT_ONCE;
		List<KeptLease> next = nextDue(atOnce);
		while (!next.isEmpty()) {
			List<RenewResult> results = renewTogether(next);
			atOnce = isAnsweredInPart(results) ? Math.min(atOnce * GROWTH_WITHOUT_ANSWER, MOST_RENEWALS_AT_ONCE)
					: RENEWALS_AT_ONCE;
			next = nextDue(atOnce);
		}
	}

	private List<KeptLease> nextDue(int limit) {
		List<KeptLease> next = new ArrayList<>();
		while (next.size() < limit) {
			KeptLease lease = this.due.poll();
			if (lease == null) {
				return next;
			}
			if (lease.isToBeRenewed()) {
				next.add(lease);
			}
			else {
				// not sent; whether the lease is over for good, the timer decides
				answer(lease, RenewResult.UNKNOWN, this.clock.now());
			}
		}
		return next;
	}

	private List<RenewResult> renewTogether(List<KeptLease> leases) {
		Moment sent = this.clock.now();
		leases.forEach((lease) -> lease.lease().renewing(sent));
		List<RenewResult> results = renew(leases);
		for (int i = 0; i < leases.size(); i++) {
			answer(leases.get(i), results.get(i), sent);
		}
		this.events.renewed(leases, results);
		return results;
	}

	private static boolean isAnsweredInPart(List<RenewResult> results) {
		return results.contains(RenewResult.UNKNOWN)
				&& results.stream().anyMatch((result) -> result != RenewResult.UNKNOWN);
	}

	private static void answer(KeptLease lease, RenewResult result, Moment sent) {
		try {
			lease.renewalAnswered(result, sent);
		}
		catch (RuntimeException ex) {
			logger.warn("The renewal of lock '" + StorageKey.of(lease.lease().key()) + "' could not be noted", ex);
		}
	}

	/**
	 * Ask the store. Whatever goes wrong, every lease of the batch gets an answer and is
	 * tried again.
	 */
	private List<RenewResult> renew(List<KeptLease> batch) {
		try {
			List<RenewResult> results = this.store.renew(batch.stream()
				.map(KeptLease::lease)
				.map((lease) -> new RenewCommand(lease.key(), lease.owner(), lease.length()))
				.toList());
			if (results.size() == batch.size()) {
				return results;
			}
			throw new IllegalStateException(results.size() + " answers to " + batch.size() + " renewals");
		}
		catch (Throwable ex) {
			logger.debug("The renewal of " + batch.size() + " locks failed and will be repeated", ex);
			return Collections.nCopies(batch.size(), RenewResult.UNKNOWN);
		}
	}

	List<Lease> leases() {
		return List.copyOf(this.kept.keySet());
	}

	int size() {
		return this.kept.size();
	}

	int due() {
		return this.due.size();
	}

	private void signalEnd() {
		this.ending.lock();
		try {
			this.ended.signalAll();
		}
		finally {
			this.ending.unlock();
		}
	}

	/**
	 * Wait until none of these leases is kept any more.
	 * @param leases the leases
	 * @param limit how long to wait at the most
	 */
	void awaitEnd(List<Lease> leases, Duration limit) {
		long remaining = limit.toNanos();
		boolean interrupted = false;
		this.awaited = true;
		this.ending.lock();
		try {
			while (!Collections.disjoint(leases, this.kept.keySet()) && remaining > 0 && !interrupted) {
				try {
					remaining = this.ended.awaitNanos(remaining);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		finally {
			this.ending.unlock();
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
