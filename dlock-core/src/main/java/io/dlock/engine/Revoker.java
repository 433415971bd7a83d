package io.dlock.engine;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.engine.MachineClock.Moment;
import io.dlock.store.LockStore;

/**
 * Takes back what was acquired in the store although nobody here holds it, or may be
 * acquired yet by a request that is still on its way. Keeps trying, by owner, until the
 * lease of that request would be over.
 */
final class Revoker {

	private static final Log logger = LogFactory.getLog(Revoker.class);

	private static final Duration MAX_PAUSE = Duration.ofSeconds(1);

	private final LockStore store;

	private final MachineClock clock;

	private final EngineThreads threads;

	private final Set<Revocation> pending = ConcurrentHashMap.newKeySet();

	Revoker(LockStore store, MachineClock clock, EngineThreads threads) {
		this.store = store;
		this.clock = clock;
		this.threads = threads;
	}

	/**
	 * Revoke an acquisition.
	 * @param key the key
	 * @param owner its owner
	 * @param sent when its last unanswered request was sent
	 * @param lease the lease it asked for
	 */
	void revoke(String key, String owner, Moment sent, Duration lease) {
		Revocation revocation = new Revocation(key, owner, sent, lease,
				new Backoff((lease.compareTo(MAX_PAUSE) < 0) ? lease : MAX_PAUSE));
		this.pending.add(revocation);
		this.threads.work(() -> attempt(revocation));
	}

	private void attempt(Revocation revocation) {
		if (isReleased(revocation) || isOver(revocation)) {
			this.pending.remove(revocation);
			return;
		}
		this.threads.workLater(() -> attempt(revocation), revocation.backoff().nextNanos());
	}

	/**
	 * A release that found nothing proves nothing: the acquire may arrive after it.
	 */
	private boolean isReleased(Revocation revocation) {
		try {
			return this.store.release(revocation.key(), revocation.owner());
		}
		catch (RuntimeException ex) {
			logger.debug("Could not revoke an acquisition of lock '" + revocation.key() + "', will try again", ex);
			return false;
		}
	}

	private boolean isOver(Revocation revocation) {
		return this.clock.elapsedNanos(revocation.sent()) > revocation.lease().toNanos();
	}

	/**
	 * Try everything once more, at shutdown.
	 * @param limit when to stop trying: what is left ends with its lease
	 */
	void flush(Deadline limit) {
		this.pending.removeIf((revocation) -> !limit.isOver() && isReleased(revocation));
	}

	int size() {
		return this.pending.size();
	}

	/**
	 * An acquisition to be revoked.
	 *
	 * @param key the key
	 * @param owner its owner
	 * @param sent when its last unanswered request was sent
	 * @param lease the lease it asked for
	 * @param backoff the pauses between attempts
	 */
	private record Revocation(String key, String owner, Moment sent, Duration lease, Backoff backoff) {

	}

}
