package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.LockBusyException;
import io.dlock.LockEvent;
import io.dlock.LockListener;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.store.RenewResult;

/**
 * Tells the listeners what happens to locks. As long as there are none, nothing is
 * remembered and nothing is created for them.
 */
final class LockEvents {

	private static final Log logger = LogFactory.getLog(LockEvents.class);

	private final EngineThreads threads;

	private final List<LockListener> listeners = new CopyOnWriteArrayList<>();

	private final Set<Class<?>> warnedOf = ConcurrentHashMap.newKeySet();

	LockEvents(EngineThreads threads) {
		this.threads = threads;
	}

	void add(LockListener listener) {
		this.listeners.add(Objects.requireNonNull(listener));
	}

	boolean areWanted() {
		return !this.listeners.isEmpty();
	}

	/**
	 * Tell that a lock was acquired, and that it was lost if that was faster.
	 * @param hold the lock
	 * @param wait the wait for it
	 */
	void acquired(Hold hold, Deadline wait) {
		Tenure tenure = hold.tenure();
		if (tenure != null) {
			LockRequest request = tenure.request();
			tell(new LockEvent.Acquired(request.key(), request.name(), request.reason(), hold.token(), wait.elapsed()));
			tell(tenure.announced());
		}
	}

	/**
	 * Tell why a lock was not acquired.
	 * @param acquisition the request
	 * @param reason what it ends with; of other exceptions nothing is told
	 */
	void refused(Acquisition acquisition, Throwable reason) {
		if (!areWanted()) {
			return;
		}
		LockRequest request = acquisition.request();
		Duration waited = acquisition.deadline().elapsed();
		if (reason instanceof LockStoreException failure) {
			tell(new LockEvent.StoreFailed(request.key(), request.name(), request.reason(), waited, failure,
					request.failOpen() && failure.isOutage()));
		}
		else if (reason instanceof LockBusyException) {
			tell(new LockEvent.Busy(request.key(), request.name(), request.reason(), waited));
		}
	}

	/**
	 * What is to be told once the lock is released.
	 * @param hold the lock whose release has just begun
	 * @return the event, or {@code null} if nobody wants it
	 */
	@Nullable LockEvent release(Hold hold) {
		Tenure tenure = hold.tenure();
		if (tenure == null || !tenure.isAnnounced()) {
			return null;
		}
		LockRequest request = tenure.request();
		return new LockEvent.Released(request.key(), request.name(), request.reason(), hold.token(), tenure.elapsed(),
				remaining(hold));
	}

	/**
	 * Tell that a lock was lost, on a thread of its own: whoever finds out may be the
	 * timer.
	 * @param hold the lock
	 * @param loss how
	 */
	void lost(Hold hold, Loss loss) {
		Tenure tenure = hold.tenure();
		if (tenure == null) {
			return;
		}
		LockRequest request = tenure.request();
		LockEvent.Lost event = new LockEvent.Lost(request.key(), request.name(), request.reason(), hold.token(),
				tenure.elapsed(), loss.reason(), loss.type());
		if (tenure.lost(event)) {
			this.threads.event(() -> tell(event));
		}
	}

	/**
	 * Tell of renewals, unless the listeners have enough to do.
	 * @param leases the leases
	 * @param results what became of them
	 */
	void renewed(List<KeptLease> leases, List<RenewResult> results) {
		if (!areWanted() || this.threads.hasManyEvents()) {
			return;
		}
		List<LockEvent> events = new ArrayList<>();
		for (int i = 0; i < leases.size(); i++) {
			addRenewal(leases.get(i).lease().holder(), results.get(i), events);
		}
		if (!events.isEmpty()) {
			this.threads.event(() -> events.forEach(this::tell));
		}
	}

	/**
	 * What was refused is lost, of which is told there.
	 */
	private void addRenewal(Hold hold, RenewResult result, List<LockEvent> events) {
		Tenure tenure = hold.tenure();
		if (tenure == null || !tenure.isAnnounced() || !hold.isValid()) {
			return;
		}
		LockRequest request = tenure.request();
		if (result == RenewResult.RENEWED) {
			events.add(new LockEvent.Renewed(request.key(), request.name(), request.reason(), hold.token(),
					tenure.elapsed(), remaining(hold)));
		}
		else if (result == RenewResult.UNKNOWN) {
			events.add(new LockEvent.RenewalFailed(request.key(), request.name(), request.reason(), hold.token(),
					tenure.elapsed(), remaining(hold)));
		}
	}

	private static Duration remaining(Hold hold) {
		return Duration.ofNanos(Math.max(0, hold.validNanosLeft()));
	}

	/**
	 * Call the listeners. What goes wrong with one concerns neither the others nor the
	 * lock.
	 * @param event the event, or {@code null} if there is none
	 */
	void tell(@Nullable LockEvent event) {
		if (event == null) {
			return;
		}
		for (LockListener listener : this.listeners) {
			try {
				listener.onEvent(event);
			}
			catch (VirtualMachineError ex) {
				throw ex;
			}
			catch (Throwable ex) {
				failed(listener, ex);
			}
		}
	}

	private void failed(LockListener listener, Throwable ex) {
		String message = "Lock listener " + listener.getClass().getName() + " failed";
		if (this.warnedOf.add(listener.getClass())) {
			logger.warn(message + "; it will be called again, and further failures are logged at debug level", ex);
		}
		else {
			logger.debug(message, ex);
		}
	}

}
