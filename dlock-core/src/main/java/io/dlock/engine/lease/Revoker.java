package io.dlock.engine.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.engine.concurrent.Backoff;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.concurrent.MachineClock.Moment;
import io.dlock.engine.concurrent.Alarm;
import io.dlock.store.LockStore;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreException;

/**
 * Revokes acquisitions that have no holder: requests that the store has executed, or may
 * execute when they arrive late. A revocation is a release by owner. It is repeated until
 * the lease of the request would be over, unless a single request was found and undone. A
 * store that gave no answer for so long may execute the request when it is back: the time
 * then counts from its first answer.
 * <p>
 * Works in rounds on a thread of its own. A revocation that the store has not answered
 * yet is tried at once. A round ends at the first failure, and the next is half a command
 * timeout later, so that an outage costs one call a round, regardless of the number of
 * revocations. A revocation that the store has answered, but whose request may arrive
 * later, is repeated whenever it has become a quarter older, so that a late request is
 * undone within a quarter of its delay, and for the last time shortly before the lease
 * would be over. All repetitions together are at most ten calls a second.
 */
public final class Revoker {

	private static final Log logger = LogFactory.getLog(Revoker.class);

	private static final Duration MAX_PAUSE = Duration.ofMillis(500);

	/** The locks are free soon after the store is back. */
	private static final int PAUSES_PER_TIMEOUT = 2;

	private static final int AGE_DIVISOR = 4;

	private static final long REPETITION_NANOS = Duration.ofMillis(100).toNanos();

	private static final int MAX_OVERDUE = 10_000;

	private final LockStore store;

	private final MachineClock clock;

	private final Alarm alarm;

	private final Duration maxPause;

	private final Queue<Revocation> unanswered = new ConcurrentLinkedQueue<>();

	/** Not answered before the leases of their requests were over. */
	private final Queue<Revocation> overdue = new LinkedBlockingQueue<>(MAX_OVERDUE);

	private final Queue<Revocation> answered = new PriorityBlockingQueue<>();

	/** Held while a revocation is in none of the queues. */
	private final ReentrantLock attempts = new ReentrantLock();

	private final AtomicInteger pending = new AtomicInteger();

	/** The pauses while the store does not answer. */
	private volatile @Nullable Backoff backoff;

	private volatile long nextRound;

	private volatile long nextRepetition;

	public Revoker(LockStore store, MachineClock clock, EngineThreads threads, Duration commandTimeout) {
		this(store, clock, threads::schedule, (round) -> threads.scheduleRevocation(round, 0), commandTimeout);
	}

	/**
	 * Create a revoker.
	 * @param store the store
	 * @param clock the clock
	 * @param scheduler starts a round when a revocation is due
	 * @param thread runs the rounds, one after the other
	 * @param commandTimeout the command timeout of the store
	 */
	Revoker(LockStore store, MachineClock clock, Alarm.Scheduler scheduler, Consumer<Runnable> thread,
			Duration commandTimeout) {
		this.store = store;
		this.clock = clock;
		this.alarm = new Alarm(scheduler, clock, () -> thread.accept(this::round));
		Duration pause = commandTimeout.dividedBy(PAUSES_PER_TIMEOUT);
		this.maxPause = (pause.compareTo(MAX_PAUSE) < 0) ? pause : MAX_PAUSE;
		this.nextRound = clock.nanoTime();
		this.nextRepetition = this.nextRound;
	}

	/**
	 * Revoke an acquisition.
	 * @param key the key
	 * @param owner its owner
	 * @param requests its unanswered requests
	 * @param lease the lease it asked for
	 */
	public void revoke(String key, String owner, UnansweredRequests requests, Duration lease) {
		this.pending.incrementAndGet();
		this.unanswered.add(new Revocation(key, owner, requests, lease, this.clock.nanoTime()));
		this.alarm.wakeIn(nanosUntilDue());
	}

	private long nanosUntilDue() {
		long now = this.clock.nanoTime();
		long pause = Math.max(0, this.nextRound - now);
		boolean answered = this.unanswered.isEmpty() && this.overdue.isEmpty();
		return answered ? Math.max(pause, nanosUntilRepetition(now)) : pause;
	}

	private long nanosUntilRepetition(long now) {
		Revocation next = this.answered.peek();
		return (next != null) ? Math.max(next.due() - now, this.nextRepetition - now) : Alarm.NEVER;
	}

	private void round() {
		try {
			while (nanosUntilDue() <= 0) {
				this.attempts.lock();
				try {
					attemptNext();
				}
				finally {
					this.attempts.unlock();
				}
			}
		}
		finally {
			this.alarm.wakeIn(nanosUntilDue());
		}
	}

	/**
	 * A due repetition comes first, new revocations after it, and those whose leases are
	 * over last, so that a revocation that keeps failing delays no others.
	 */
	private void attemptNext() {
		boolean repetition = nanosUntilRepetition(this.clock.nanoTime()) <= 0;
		Revocation revocation = repetition ? this.answered.poll() : pollUnanswered();
		if (revocation == null) {
			return;
		}
		if (repetition && isOver(revocation)) {
			this.pending.decrementAndGet();
			return;
		}
		boolean answering = attempt(revocation, repetition);
		if (repetition) {
			this.nextRepetition = (answering ? this.clock.nanoTime() : this.nextRound) + REPETITION_NANOS;
		}
	}

	private @Nullable Revocation pollUnanswered() {
		for (Revocation next = this.unanswered.poll(); next != null; next = this.unanswered.poll()) {
			if (!isOver(next)) {
				return next;
			}
			if (!this.overdue.offer(next)) {
				this.pending.decrementAndGet();
			}
		}
		return this.overdue.poll();
	}

	/**
	 * Call the store.
	 * @param repetition whether it has answered this revocation before
	 * @return whether it has answered
	 */
	private boolean attempt(Revocation revocation, boolean repetition) {
		try {
			if (isUndone(revocation) || (repetition && isOver(revocation))) {
				this.pending.decrementAndGet();
			}
			else {
				Revocation next = isOver(revocation) ? revocation.since(this.clock.now()) : revocation;
				this.answered.add(next.due(nextAttempt(next)));
			}
			this.backoff = null;
			return true;
		}
		catch (Throwable ex) {
			logger.debug(
					"Could not revoke an acquisition of lock '" + StorageKey.of(revocation.key()) + "', will try again",
					ex);
			pause();
			if (isOver(revocation) && isForGood(ex)) {
				this.pending.decrementAndGet();
			}
			else {
				this.unanswered.add(revocation);
			}
			return false;
		}
	}

	private static boolean isForGood(Throwable failure) {
		return !(failure instanceof StoreException ex) || ex.isPermanent();
	}

	/**
	 * Release by owner. A release that finds nothing proves nothing: the request may
	 * arrive after it.
	 */
	private boolean isUndone(Revocation revocation) {
		return this.store.release(revocation.key(), revocation.owner()) && revocation.requests().requests() == 1;
	}

	private boolean isOver(Revocation revocation) {
		return age(revocation) > revocation.lease().toNanos();
	}

	private long age(Revocation revocation) {
		return this.clock.elapsedNanos(revocation.requests().lastSent());
	}

	private long nextAttempt(Revocation revocation) {
		long age = age(revocation);
		long shortest = this.maxPause.toNanos();
		long left = revocation.lease().toNanos() - age;
		long untilLast = (left > shortest) ? left - shortest : left + 1;
		return this.clock.nanoTime() + Math.min(Math.max(shortest, age / AGE_DIVISOR), untilLast);
	}

	private void pause() {
		Backoff current = this.backoff;
		if (current == null) {
			current = new Backoff(this.maxPause);
			this.backoff = current;
		}
		this.nextRound = this.clock.nanoTime() + current.nextNanos();
	}

	/**
	 * Try each revocation once more, at shutdown.
	 * @param limit when to stop: the other locks end with their leases
	 */
	public void flush(Deadline limit) {
		boolean locked = false;
		try {
			locked = this.attempts.tryLock(limit.remainingNanos(), TimeUnit.NANOSECONDS);
			attemptAll(limit);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			if (locked) {
				this.attempts.unlock();
			}
		}
	}

	private void attemptAll(Deadline limit) {
		boolean answering = true;
		for (Revocation revocation : takeAll()) {
			if (answering && !limit.isOver()) {
				answering = attempt(revocation, false);
			}
			else {
				this.unanswered.add(revocation);
			}
		}
		this.alarm.wakeIn(nanosUntilDue());
	}

	private List<Revocation> takeAll() {
		List<Revocation> all = new ArrayList<>();
		for (Queue<Revocation> queue : List.of(this.unanswered, this.answered, this.overdue)) {
			for (Revocation next = queue.poll(); next != null; next = queue.poll()) {
				all.add(next);
			}
		}
		return all;
	}

	public int size() {
		return this.pending.get();
	}

	/**
	 * An acquisition to be revoked.
	 *
	 * @param key the key
	 * @param owner its owner
	 * @param requests its unanswered requests
	 * @param lease the lease it asked for
	 * @param due the time of the next try
	 */
	private record Revocation(String key, String owner, UnansweredRequests requests, Duration lease,
			long due) implements Comparable<Revocation> {

		/**
		 * This revocation, as if its requests were sent at a later time.
		 */
		Revocation since(Moment sent) {
			return new Revocation(this.key, this.owner, new UnansweredRequests(this.requests.requests(), sent),
					this.lease, this.due);
		}

		Revocation due(long next) {
			return new Revocation(this.key, this.owner, this.requests, this.lease, next);
		}

		@Override
		public int compareTo(Revocation other) {
			return Long.signum(this.due - other.due);
		}

	}

}
