package io.dlock.autoconfigure.actuate.console;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
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

	static final int MAX_EVENTS = 1000;

	/** Of texts, with an estimate for what is around them. */
	static final int MAX_BYTES = 512 * 1024;

	private static final int BYTES_OF_AN_EVENT = 160;

	private static final int LONGEST_TEXT = 255;

	private final ReentrantLock access = new ReentrantLock();

	/** The newest first. Guarded by {@code access}. */
	private final Deque<Incident> incidents = new ArrayDeque<>();

	/** Guarded by {@code access}. */
	private long bytes;

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
			this.incidents.addFirst(incident);
			this.bytes += incident.bytes();
			while (this.incidents.size() > MAX_EVENTS || this.bytes > MAX_BYTES) {
				this.bytes -= this.incidents.removeLast().bytes();
			}
		}
		finally {
			this.access.unlock();
		}
	}

	/**
	 * The incidents since some time ago.
	 * @param age the age of the oldest one
	 * @return the incidents, the newest first
	 */
	List<Incident> since(Duration age) {
		long oldest = System.nanoTime() - age.toNanos();
		List<Incident> found = new ArrayList<>();
		this.access.lock();
		try {
			Iterator<Incident> newest = this.incidents.iterator();
			while (newest.hasNext()) {
				Incident incident = newest.next();
				if (incident.nanos() - oldest < 0) {
					break;
				}
				found.add(incident);
			}
		}
		finally {
			this.access.unlock();
		}
		return found;
	}

	long renewed() {
		return this.renewed.get();
	}

	long renewalsFailed() {
		return this.renewalsFailed.get();
	}

	/**
	 * An incident.
	 *
	 * @param nanos its time
	 * @param type its type
	 * @param key the key as it is stored
	 * @param name the name of the request, or {@code null}
	 * @param reason the reason of the request, or {@code null}
	 * @param token the fencing token, or {@code null}
	 * @param text a text for people, without the key
	 * @param detail more text, which may contain the key, or {@code null}
	 */
	record Incident(long nanos, String type, String key, @Nullable String name, @Nullable String reason,
			@Nullable Long token, String text, @Nullable String detail) {

		private int bytes() {
			return BYTES_OF_AN_EVENT + 2 * (this.key.length() + length(this.name) + length(this.reason)
					+ this.text.length() + length(this.detail));
		}

		private static int length(@Nullable String text) {
			return (text != null) ? text.length() : 0;
		}

	}

}
