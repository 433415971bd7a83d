package io.dlock.engine.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.LockHandle;
import io.dlock.LossType;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.concurrent.MachineClock.Moment;
import io.dlock.engine.concurrent.Alarm;
import io.dlock.engine.lease.Hold.Loss;
import io.dlock.store.LockStore;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;

/**
 * Watches the leases of this process: renews those that are due, many in one call to the
 * store and in the order of their ends, and declares expired leases lost.
 */
public final class LeaseRenewer {

	private static final Log logger = LogFactory.getLog(LeaseRenewer.class);

	/** The check of all leases takes at most a tenth of the timer's time. */
	private static final long LOOK_PAUSE_PER_LEASE = Duration.ofNanos(1000).toNanos();

	private static final long MAX_LOOK_PAUSE = Duration.ofMillis(100).toNanos();

	private static final long CLOCK_PAUSE = Duration.ofMillis(100).toNanos();

	/**
	 * The wall clock is read in milliseconds, and a time service corrects it in small
	 * steps.
	 */
	private static final long CLOCK_STEP = Duration.ofMillis(10).toNanos();

	private static final long END_POLL_NANOS = Duration.ofMillis(1).toNanos();

	private static final long PAUSE_AFTER_FAILURE = Duration.ofMillis(100).toNanos();

	private static final Loss REFUSED = new Loss(LossType.REFUSED,
			"the store refused its renewal, because it expired there or was taken away");

	private final StoreRenewer store;

	private final MachineClock clock;

	private final EngineThreads threads;

	private final LockEvents events;

	private final Map<Lease, RenewalSchedule> renewals = new ConcurrentHashMap<>();

	private final Queue<RenewalSchedule> due = new PriorityBlockingQueue<>();

	private final Alarm alarm;

	private final Alarm clockAlarm;

	/** The last moment at which both clocks agreed. Set by the timer only. */
	private volatile Moment steady;

	private final AtomicBoolean renewalScheduled = new AtomicBoolean();

	/** Leases are due again after a failure of this process. */
	private final AtomicBoolean retried = new AtomicBoolean();

	/** Accessed by the renewal thread only. */
	private final RenewalBatchSize batchSize = new RenewalBatchSize();

	public LeaseRenewer(LockStore store, MachineClock clock, EngineThreads threads, LockEvents events) {
		this.store = new StoreRenewer(store);
		this.clock = clock;
		this.threads = threads;
		this.events = events;
		this.alarm = new Alarm(threads::schedule, clock, () -> checkLeases(false));
		this.clockAlarm = new Alarm(threads::schedule, clock, this::checkClocks);
		this.steady = clock.now();
	}

	/**
	 * Watch a lease and renew it when that is due. Done before its handle is given out.
	 * @param lease the lease
	 */
	public void add(Lease lease) {
		RenewalSchedule renewal = new RenewalSchedule(lease);
		long due = renewal.firstDue();
		this.renewals.put(lease, renewal);
		// after a check of the clocks since the grant, the lease may be over already
		boolean clockChecked = this.steady.nanos() - lease.sent().nanos() >= 0;
		if (clockChecked) {
			renewal.clockWasSet();
		}
		if (clockChecked || !this.alarm.ringsBy(due)) {
			this.alarm.wakeIn(renewal.nanosUntilDue());
		}
		if (!this.clockAlarm.isSet()) {
			this.clockAlarm.wakeIn(CLOCK_PAUSE);
		}
	}

	/**
	 * A wall clock that is set forward, or a machine that wakes up, ends leases at a time
	 * that no alarm knows.
	 */
	void checkClocks() {
		try {
			long elapsed = this.clock.elapsedNanos(this.steady);
			long ahead = elapsed - (this.clock.nanoTime() - this.steady.nanos());
			if (ahead > CLOCK_STEP || ahead <= 0) {
				this.steady = this.clock.now();
			}
			if (ahead > CLOCK_STEP) {
				checkLeases(true);
			}
		}
		finally {
			if (!this.renewals.isEmpty()) {
				this.clockAlarm.wakeIn(CLOCK_PAUSE);
			}
		}
	}

	/**
	 * Check the leases that are due. A failure of one does not concern the others. If a
	 * renewal is due, those that would soon be due are sent together with it.
	 * @param all whether to check all leases, since a clock was set
	 */
	void checkLeases(boolean all) {
		long now = this.clock.nanoTime();
		long next = Alarm.NEVER;
		boolean isAnyDue = false;
		for (RenewalSchedule renewal : this.renewals.values()) {
			try {
				if (all) {
					renewal.clockWasSet();
				}
				if (all || renewal.nanosUntilCheck(now) <= 0) {
					isAnyDue |= check(renewal);
					renewal.checked(now);
				}
				next = Math.min(next, renewal.nanosUntilCheck(now));
			}
			catch (Throwable ex) {
				logger.warn("Failed to check the lease of lock '" + StorageKey.of(renewal.lease().key())
						+ "', will try again", ex);
				next = Math.min(next, PAUSE_AFTER_FAILURE);
			}
		}
		try {
			if (isAnyDue) {
				renewWithThoseThatAreSoonDue(now);
			}
		}
		finally {
			long pause = Math.min(MAX_LOOK_PAUSE, this.renewals.size() * LOOK_PAUSE_PER_LEASE);
			this.alarm.wakeIn(Math.max(next, pause));
		}
	}

	private void renewWithThoseThatAreSoonDue(long now) {
		try {
			this.renewals.values().stream().filter((renewal) -> renewal.startEarly(now)).forEach(this.due::add);
		}
		finally {
			renew();
		}
	}

	/**
	 * Renew a lease, or declare it lost, if that is due.
	 * @return whether it has to be renewed now
	 */
	private boolean check(RenewalSchedule renewal) {
		Lease lease = renewal.lease();
		if (lease.isOver()) {
			lose(lease, lease.expiry());
			lease.lossListener().onEnd(lease.holder());
			return false;
		}
		// a hold is lost if its maxHold is over
		lease.checkHolds();
		return renewal.start() && this.due.add(renewal);
	}

	/**
	 * End a lease that no longer belongs to this process. A holder that has found the
	 * loss itself may not have got to its listeners yet.
	 * @param lease the lease
	 * @param loss the loss
	 * @return whether a holder lost the lock or an offer was withdrawn
	 */
	public boolean lose(Lease lease, Loss loss) {
		boolean lost = lease.lose(loss);
		remove(lease).forEach(this::tell);
		return lost;
	}

	/**
	 * Stop watching a lease that is being released or is lost.
	 * @param lease the lease
	 * @return the actions that call the loss listeners
	 */
	public List<Runnable> remove(Lease lease) {
		RenewalSchedule renewal = this.renewals.remove(lease);
		return (renewal != null) ? renewal.end() : Collections.emptyList();
	}

	/**
	 * Add a listener of the loss of a lock.
	 * @param lease the lease
	 * @param handle the handle that is passed to the listener
	 * @param listener the listener
	 * @return {@code false} if the lease has ended
	 */
	public boolean addLossListener(Lease lease, HoldHandle handle, Consumer<? super LockHandle> listener) {
		RenewalSchedule renewal = this.renewals.get(lease);
		return renewal != null && renewal.addLossListener(handle, listener);
	}

	/**
	 * End the lease of a lost hold, unless other holds share it.
	 * @param hold the hold
	 * @return the actions that call the loss listeners
	 */
	public List<Runnable> removeLost(Hold hold) {
		Lease lease = hold.lease();
		if (lease.endsWithLoss()) {
			return remove(lease);
		}
		RenewalSchedule renewal = this.renewals.get(lease);
		return (renewal != null) ? renewal.removeLossListeners(hold) : Collections.emptyList();
	}

	/**
	 * Call a listener on a thread that listeners share.
	 */
	public void tell(Runnable listener) {
		this.threads.notifyListener(listener);
	}

	public List<Runnable> removeLossListeners(Lease lease, HoldHandle handle) {
		RenewalSchedule renewal = this.renewals.get(lease);
		return (renewal != null) ? renewal.removeLossListeners(handle) : Collections.emptyList();
	}

	private void renew() {
		if (this.renewalScheduled.compareAndSet(false, true)) {
			try {
				this.threads.executeRenewal(this::renewDue);
			}
			catch (Throwable ex) {
				// no thread could be started: this attempt is lost, the next may succeed
				this.renewalScheduled.set(false);
				for (RenewalSchedule next = this.due.poll(); next != null; next = this.due.poll()) {
					note(next, RenewResult.UNKNOWN, this.clock.now());
				}
			}
		}
	}

	/**
	 * A lease that becomes due meanwhile and ends earlier goes before those that are
	 * left. After a failure of this process, such as a lack of memory, the leases are due
	 * again.
	 */
	private void renewDue() {
		this.renewalScheduled.set(false);
		List<RenewalSchedule> next = new ArrayList<>();
		boolean failed = true;
		try {
			while (takeDue(next, this.batchSize.limit())) {
				this.batchSize.answered(renewTogether(next));
				next.clear();
			}
			failed = false;
		}
		finally {
			if (failed) {
				retry(next);
			}
			if (this.retried.getAndSet(false)) {
				// the alarm may not be set
				this.alarm.wakeIn(0);
			}
		}
	}

	private void retry(List<RenewalSchedule> next) {
		this.retried.set(true);
		next.forEach(RenewalSchedule::retry);
		for (RenewalSchedule left = this.due.poll(); left != null; left = this.due.poll()) {
			left.retry();
		}
	}

	private boolean takeDue(List<RenewalSchedule> next, int limit) {
		while (next.size() < limit) {
			RenewalSchedule renewal = this.due.poll();
			if (renewal == null) {
				break;
			}
			take(renewal, next);
		}
		return !next.isEmpty();
	}

	private void take(RenewalSchedule renewal, List<RenewalSchedule> next) {
		try {
			if (renewal.isToBeRenewed()) {
				next.add(renewal);
			}
			else {
				// not sent: the timer decides whether the lease is over
				note(renewal, RenewResult.UNKNOWN, this.clock.now());
			}
		}
		catch (Throwable ex) {
			failed(renewal, ex);
		}
	}

	/**
	 * Renew a lease on the calling thread, whether that is due or not. The renewals in
	 * the background keep their schedule.
	 * @param lease the lease
	 * @return the answer of the store
	 */
	public RenewResult renewNow(Lease lease) {
		Moment sent = this.clock.now();
		List<RenewResult> results = this.store.renew(List.of(lease), sent);
		RenewResult result = results.get(0);
		if (result == RenewResult.RENEWED) {
			lease.renewed(sent);
		}
		else if (result == RenewResult.REFUSED) {
			lose(lease, REFUSED);
		}
		this.events.renewed(List.of(lease), results);
		return result;
	}

	private List<RenewResult> renewTogether(List<RenewalSchedule> batch) {
		List<Lease> leases = batch.stream().map(RenewalSchedule::lease).toList();
		Moment sent = this.clock.now();
		List<RenewResult> results = this.store.renew(leases, sent);
		for (int i = 0; i < batch.size(); i++) {
			if (results.get(i) == RenewResult.NOT_SENT) {
				this.due.add(batch.get(i));
			}
			else {
				answer(batch.get(i), results.get(i), sent);
			}
		}
		this.events.renewed(leases, results);
		return results;
	}

	private void answer(RenewalSchedule renewal, RenewResult result, Moment sent) {
		try {
			note(renewal, result, sent);
		}
		catch (Throwable ex) {
			failed(renewal, ex);
		}
	}

	private void failed(RenewalSchedule renewal, Throwable ex) {
		renewal.retry();
		this.retried.set(true);
		logger.warn("Failed to renew lock '" + StorageKey.of(renewal.lease().key()) + "', will try again", ex);
	}

	private void note(RenewalSchedule renewal, RenewResult result, Moment sent) {
		if (result == RenewResult.REFUSED) {
			lose(renewal.lease(), REFUSED);
		}
		renewal.answered(result, sent);
		this.alarm.wakeIn(renewal.nanosUntilDue());
	}

	public List<Lease> leases() {
		return List.copyOf(this.renewals.keySet());
	}

	public int size() {
		return this.renewals.size();
	}

	int due() {
		return this.due.size();
	}

	/**
	 * Wait until all holds of this moment have ended. Their leases may go on with other
	 * holds.
	 * @param limit how long to wait
	 */
	public void awaitEndOfHolds(Duration limit) {
		List<Hold> holds = leases().stream().flatMap((lease) -> lease.holds().stream()).toList();
		Deadline end = Deadline.after(MachineClock.SYSTEM, limit);
		while (holds.stream().anyMatch(Hold::isHeld) && !end.isOver() && !Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(this, END_POLL_NANOS);
		}
	}

}
