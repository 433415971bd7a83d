package io.dlock.engine;

import java.time.Duration;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.store.LockStore;
import io.dlock.store.StorageKey;

/**
 * Takes back what was acquired in the store although nobody here holds it, or may be
 * acquired yet by a request that is still on its way. Keeps trying, by owner, until the
 * lease of that request would be over; earlier only if the one request there was has been
 * found and undone.
 * <p>
 * Works in rounds on a thread of its own. A round ends at the first failure of the store,
 * so that an outage costs one command timeout a round, however much is pending.
 */
final class Revoker {

	private static final Log logger = LogFactory.getLog(Revoker.class);

	private static final Duration MAX_PAUSE = Duration.ofMillis(500);

	/** What is to be revoked is free soon after the store is back. */
	private static final int PAUSES_PER_TIMEOUT = 2;

	private final LockStore store;

	private final MachineClock clock;

	private final EngineThreads threads;

	private final Queue<Revocation> pending = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean scheduled = new AtomicBoolean();

	private final Duration maxPause;

	private volatile Backoff backoff;

	Revoker(LockStore store, MachineClock clock, EngineThreads threads, Duration commandTimeout) {
		this.store = store;
		this.clock = clock;
		this.threads = threads;
		Duration pause = commandTimeout.dividedBy(PAUSES_PER_TIMEOUT);
		this.maxPause = (pause.compareTo(MAX_PAUSE) < 0) ? pause : MAX_PAUSE;
		this.backoff = new Backoff(this.maxPause);
	}

	/**
	 * Revoke an acquisition.
	 * @param key the key
	 * @param owner its owner
	 * @param requests its unanswered requests
	 * @param lease the lease it asked for
	 */
	void revoke(String key, String owner, Unresolved requests, Duration lease) {
		this.pending.add(new Revocation(key, owner, requests, lease));
		this.backoff = new Backoff(this.maxPause);
		schedule(0);
	}

	private void schedule(long delayNanos) {
		if (this.scheduled.compareAndSet(false, true)) {
			this.threads.revocationLater(this::round, delayNanos);
		}
	}

	private void round() {
		this.scheduled.set(false);
		try {
			attemptAll(null);
		}
		finally {
			if (!this.pending.isEmpty()) {
				schedule(this.backoff.nextNanos());
			}
		}
	}

	private void attemptAll(@Nullable Deadline limit) {
		boolean answering = true;
		for (Iterator<Revocation> all = this.pending.iterator(); all.hasNext();) {
			Revocation revocation = all.next();
			answering &= limit == null || !limit.isOver();
			try {
				if (isOver(revocation) || (answering && isUndone(revocation))) {
					all.remove();
				}
			}
			catch (RuntimeException ex) {
				logger.debug("Could not revoke an acquisition of lock '" + StorageKey.of(revocation.key())
						+ "', will try again", ex);
				answering = false;
			}
		}
	}

	/**
	 * Release by owner. That nothing was found proves nothing: the acquire may arrive
	 * after it.
	 */
	private boolean isUndone(Revocation revocation) {
		return this.store.release(revocation.key(), revocation.owner()) && revocation.requests().requests() == 1;
	}

	private boolean isOver(Revocation revocation) {
		return this.clock.elapsedNanos(revocation.requests().lastSent()) > revocation.lease().toNanos();
	}

	/**
	 * Try everything once more, at shutdown.
	 * @param limit when to stop trying: what is left ends with its lease
	 */
	void flush(Deadline limit) {
		attemptAll(limit);
	}

	int size() {
		return this.pending.size();
	}

	/**
	 * An acquisition to be revoked.
	 *
	 * @param key the key
	 * @param owner its owner
	 * @param requests its unanswered requests
	 * @param lease the lease it asked for
	 */
	private record Revocation(String key, String owner, Unresolved requests, Duration lease) {

	}

}
