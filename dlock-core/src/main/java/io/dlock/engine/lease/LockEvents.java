package io.dlock.engine.lease;

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
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.lease.Hold.Loss;
import io.dlock.store.RenewResult;

/**
 * Publishes the events of locks to the listeners. Without listeners no event is created.
 */
public final class LockEvents {

	private static final Log logger = LogFactory.getLog(LockEvents.class);

	private final EngineThreads threads;

	private final List<LockListener> listeners = new CopyOnWriteArrayList<>();

	private final Set<Class<?>> warnedOf = ConcurrentHashMap.newKeySet();

	public LockEvents(EngineThreads threads) {
		this.threads = threads;
	}

	public void add(LockListener listener) {
		this.listeners.add(Objects.requireNonNull(listener));
	}

	public void remove(LockListener listener) {
		this.listeners.remove(listener);
	}

	public boolean hasListeners() {
		return !this.listeners.isEmpty();
	}

	/**
	 * Tell that a lock was acquired, and that it was lost if that was faster.
	 * @param hold the lock
	 * @param wait the wait for it
	 */
	public void acquired(Hold hold, Deadline wait) {
		HoldDetails details = hold.details();
		if (details != null && hasListeners()) {
			LockRequest request = details.request();
			tell(new LockEvent.Acquired(request.key(), request.name(), request.reason(), hold.token(), wait.elapsed()));
			tell(details.announced());
		}
	}

	/**
	 * Tell why a lock was not acquired: because it is busy or the store failed.
	 * @param context the call
	 * @param reason the exception for its caller
	 */
	public void refused(AcquireContext context, Throwable reason) {
		if (!hasListeners()) {
			return;
		}
		LockRequest request = context.request();
		Duration waited = context.deadline().elapsed();
		if (reason instanceof LockStoreException failure) {
			tell(new LockEvent.StoreFailed(request.key(), request.name(), request.reason(), waited, failure,
					request.failOpen() && failure.isOutage()));
		}
		else if (reason instanceof LockBusyException busy) {
			tell(new LockEvent.Busy(request.key(), request.name(), request.reason(), waited,
					busy.holder().orElse(null)));
		}
	}

	/**
	 * Create the event to be published when the lock has been released.
	 * @param hold the lock whose release has just begun
	 * @return the event, or {@code null} if there are no listeners
	 */
	public @Nullable LockEvent release(Hold hold) {
		HoldDetails details = hold.details();
		if (details == null || !details.isAnnounced()) {
			return null;
		}
		LockRequest request = details.request();
		return new LockEvent.Released(request.key(), request.name(), request.reason(), hold.token(), details.elapsed(),
				remaining(hold));
	}

	/**
	 * Tell that a lock was lost. The listeners are called on a thread of their own, since
	 * the calling thread may be the timer.
	 * @param hold the lock
	 * @param loss the loss
	 */
	public void lost(Hold hold, Loss loss) {
		HoldDetails details = hold.details();
		if (details == null) {
			return;
		}
		LockRequest request = details.request();
		LockEvent.Lost event = new LockEvent.Lost(request.key(), request.name(), request.reason(), hold.token(),
				details.elapsed(), loss.reason(), loss.type());
		if (details.lost(event)) {
			this.threads.publishEvent(() -> tell(event));
		}
	}

	/**
	 * Tell of renewals, unless too many events are waiting for the listeners.
	 * @param leases the leases
	 * @param results the answers of the store, in the same order
	 */
	void renewed(List<Lease> leases, List<RenewResult> results) {
		if (!hasListeners() || this.threads.hasManyEvents()) {
			return;
		}
		List<LockEvent> events = new ArrayList<>();
		for (int i = 0; i < leases.size(); i++) {
			for (Hold hold : leases.get(i).holds()) {
				addRenewal(hold, results.get(i), events);
			}
		}
		if (!events.isEmpty()) {
			this.threads.publishEvent(() -> events.forEach(this::tell));
		}
	}

	/**
	 * A refused renewal is a loss, which has an event of its own.
	 */
	private void addRenewal(Hold hold, RenewResult result, List<LockEvent> events) {
		HoldDetails details = hold.details();
		if (details == null || !details.isAnnounced() || !hold.isValid()) {
			return;
		}
		LockRequest request = details.request();
		if (result == RenewResult.RENEWED) {
			events.add(new LockEvent.Renewed(request.key(), request.name(), request.reason(), hold.token(),
					details.elapsed(), remaining(hold)));
		}
		else if (result == RenewResult.UNKNOWN) {
			events.add(new LockEvent.RenewalFailed(request.key(), request.name(), request.reason(), hold.token(),
					details.elapsed(), remaining(hold)));
		}
	}

	private static Duration remaining(Hold hold) {
		return Duration.ofNanos(Math.max(0, hold.validNanosLeft()));
	}

	/**
	 * Call the listeners. A failure of one concerns neither the others nor the lock.
	 * @param event the event, or {@code null} if there is none
	 */
	public void tell(@Nullable LockEvent event) {
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
