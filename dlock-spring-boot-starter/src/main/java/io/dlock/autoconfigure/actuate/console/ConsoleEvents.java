package io.dlock.autoconfigure.actuate.console;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.dlock.LockEvent;
import io.dlock.LockListener;
import io.dlock.store.StorageKey;

/**
 * The latest incidents of this process: locks that were lost or busy, renewals without an
 * answer, and failures of the store. Acquires and releases are none: a busy application
 * has thousands of them in a second.
 */
final class ConsoleEvents implements LockListener {

	private static final int LONGEST_TEXT = 255;

	private final ReentrantLock access = new ReentrantLock();

	/**
	 * By type: many of one type do not displace another one. Guarded by {@code access}.
	 */
	private final Map<String, IncidentList> incidents = new HashMap<>();

	private final AtomicLong renewed = new AtomicLong();

	private final AtomicLong renewalsFailed = new AtomicLong();

	@Override
	public void onEvent(LockEvent event) {
		if (event instanceof LockEvent.Renewed) {
			this.renewed.incrementAndGet();
		}
		else if (event instanceof LockEvent.Lost lost) {
			add(incident("lost", event, lost.token(), "after " + text(lost.held()) + ": " + lost.cause(), null));
		}
		else if (event instanceof LockEvent.Busy busy) {
			add(incident("busy", event, null, "after a wait of " + text(busy.waited()),
					(busy.holder() != null) ? "held by " + busy.holder().holder() : null));
		}
		else if (event instanceof LockEvent.RenewalFailed failed) {
			this.renewalsFailed.incrementAndGet();
			add(incident("renewal-failed", event, failed.token(),
					"no answer of the store; the lock is valid for another " + text(failed.remaining()), null));
		}
		else if (event instanceof LockEvent.StoreFailed failed) {
			add(incident("store-failed", event, null,
					(failed.failOpen() ? "the work is done without its lock" : "no lock") + " after "
							+ text(failed.waited()),
					failed.failure().getMessage()));
		}
	}

	private static Incident incident(String type, LockEvent event, @Nullable Long token, String text,
			@Nullable String detail) {
		return new Incident(System.nanoTime(), type, StorageKey.of(event.key()), shortened(event.name()),
				shortened(event.reason()), token, text, shortened(detail));
	}

	private static @Nullable String shortened(@Nullable String text) {
		return (text == null || text.length() <= LONGEST_TEXT) ? text : text.substring(0, LONGEST_TEXT) + "…";
	}

	private static String text(Duration duration) {
		long millis = Math.max(0, duration.toMillis());
		return (millis < 10_000) ? millis + " ms" : duration.toSeconds() + " s";
	}

	private void add(Incident incident) {
		this.access.lock();
		try {
			this.incidents.computeIfAbsent(incident.type(), (type) -> new IncidentList()).add(incident);
		}
		finally {
			this.access.unlock();
		}
	}

	/**
	 * The incidents since some time ago that are kept.
	 * @param age the age of the oldest one
	 * @return the incidents, the newest first
	 */
	List<Incident> since(Duration age) {
		long oldest = System.nanoTime() - age.toNanos();
		this.access.lock();
		try {
			return this.incidents.values()
				.stream()
				.flatMap(IncidentList::stream)
				.filter((incident) -> incident.nanos() - oldest >= 0)
				.sorted((one, other) -> Long.signum(other.nanos() - one.nanos()))
				.toList();
		}
		finally {
			this.access.unlock();
		}
	}

	/**
	 * The number of incidents of the last 15 minutes, also of those that are not kept.
	 * @param type their type
	 * @return the number
	 */
	long count(String type) {
		this.access.lock();
		try {
			IncidentList list = this.incidents.get(type);
			return (list != null) ? list.count(System.nanoTime()) : 0;
		}
		finally {
			this.access.unlock();
		}
	}

	long renewed() {
		return this.renewed.get();
	}

	long renewalsFailed() {
		return this.renewalsFailed.get();
	}

}
