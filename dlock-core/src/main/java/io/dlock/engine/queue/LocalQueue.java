package io.dlock.engine.queue;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

import org.jspecify.annotations.Nullable;

import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.SharedLease;
import io.dlock.store.MailboxAddress;

/**
 * The queue of a key. The first request holds the lock or asks the store for it, the
 * others wait for the first place. A request whose wait time is over has no place: it
 * watches until the first knows whether the lock has a holder. Guarded by the map of
 * {@link LocalQueues}; the volatile fields are read without it.
 */
final class LocalQueue {

	private static final AtomicReferenceFieldUpdater<LocalQueue, @Nullable QueueAnswer> ANSWER = AtomicReferenceFieldUpdater
		.newUpdater(LocalQueue.class, QueueAnswer.class, "answer");

	private volatile @Nullable QueuedRequest first;

	private @Nullable Set<QueuedRequest> others;

	private @Nullable Set<QueuedRequest> watchers;

	private volatile boolean awaited;

	private volatile boolean watched;

	/** Requests with different limits have come. */
	private volatile boolean mixed;

	private volatile @Nullable QueueAnswer answer;

	/** The first no longer holds the lock, and another thread releases it. */
	private volatile boolean releasing;

	private volatile @Nullable MailboxAddress queuedAt;

	LocalQueue(QueuedRequest first) {
		this.first = first;
	}

	@Nullable QueuedRequest first() {
		return this.first;
	}

	/**
	 * The request that holds a lock, which keeps the first place as long as it does.
	 * @param hold the lock
	 * @return the request, or {@code null} if it has left
	 */
	@Nullable QueuedRequest holder(Hold hold) {
		QueuedRequest current = this.first;
		return (current != null && current.context() == hold.context()) ? current : null;
	}

	boolean isFirst(QueuedRequest queued) {
		return this.first == queued;
	}

	/**
	 * The latest knowledge about the lock. It is out of date for a try during a release
	 * in the background: the caller may have held the lock itself. A request that has
	 * waited is told that the lock was held, since it must not wait any longer.
	 * @param queued the request that wants to know
	 * @return the answer, or {@code null} as long as the first has none for it
	 */
	@Nullable QueueAnswer answerFor(QueuedRequest queued) {
		QueueAnswer known = this.answer;
		boolean outdated = this.releasing && queued.context().deadline().isImmediate();
		return (known == null || outdated || !concerns(queued, known)) ? null : known;
	}

	/**
	 * The hold of this process that is the latest knowledge about the lock.
	 * @return the hold, or {@code null} if it is another
	 */
	@Nullable Hold holder() {
		QueueAnswer known = this.answer;
		return (known != null) ? known.here() : null;
	}

	/**
	 * Note that the first releases the lock in the background.
	 */
	void releasing() {
		this.releasing = true;
	}

	/**
	 * Note the answer that the first has from the store.
	 * @param known the answer, or {@code null} if the former one is out of date
	 * @return whether other requests may have to be told
	 */
	boolean note(@Nullable QueueAnswer known) {
		this.answer = known;
		return known != null && (this.watched || this.mixed);
	}

	/**
	 * Note that the last refusal is out of date. The first remembers it if it has waited:
	 * the lock may have other holders. A holder of this process may be noted meanwhile,
	 * and stays the answer.
	 */
	void outdate() {
		QueueAnswer known = this.answer;
		QueuedRequest current = this.first;
		if (known != null && known.here() == null && ANSWER.compareAndSet(this, known, null) && current != null) {
			remember(current, known);
		}
	}

	/**
	 * The place of this process in the queue of the store, which all requests of this
	 * queue share.
	 * @return the address, or {@code null} if the store has not queued this process
	 */
	@Nullable MailboxAddress queuedAt() {
		return this.queuedAt;
	}

	void queuedAt(@Nullable MailboxAddress address) {
		if (!Objects.equals(this.queuedAt, address)) {
			this.queuedAt = address;
		}
	}

	void add(QueuedRequest queued) {
		QueuedRequest current = this.first;
		this.mixed |= current != null && queued.limit() != current.limit();
		if (queued.isExpired()) {
			watch(queued);
		}
		else {
			if (this.others == null) {
				this.others = new LinkedHashSet<>(4);
			}
			this.others.add(queued);
			this.awaited = true;
		}
		if (this.mixed) {
			overtake(List.of(queued));
		}
	}

	/**
	 * Give the first place to a request with a higher limit than that with which the
	 * store has refused the first.
	 * @return the request, or {@code null} if there is none
	 */
	private @Nullable QueuedRequest overtake(List<QueuedRequest> candidates) {
		QueuedRequest refused = this.first;
		QueueAnswer known = this.answer;
		if (known == null || refused == null || !refused.isAdmissible()) {
			return null;
		}
		QueuedRequest next = candidates.stream()
			.filter((each) -> each.limit() > Math.max(refused.limit(), known.limit()))
			.findFirst()
			.orElse(null);
		if (next != null) {
			remove(next);
			Set<QueuedRequest> waiting = new LinkedHashSet<>(Set.of(refused));
			waiting.addAll((this.others != null) ? this.others : Set.of());
			this.others = waiting;
			this.awaited = true;
			refused.turn(false);
			remember(refused, known);
			makeFirst(next);
		}
		return next;
	}

	private static boolean concerns(QueuedRequest queued, QueueAnswer known) {
		return queued.limit() <= known.limit();
	}

	/**
	 * Give the first place to a request. The former answer stays as long as a lease is on
	 * offer to it.
	 */
	void makeFirst(QueuedRequest queued) {
		this.first = queued;
		this.releasing = false;
		if (!queued.hasOffer()) {
			remember(queued, this.answer);
			this.answer = null;
		}
		queued.becomeFirst();
	}

	/**
	 * Keep an answer of the store for a request that has waited: the next one may come
	 * after its deadline. A holder of this process that has released the lock since, or
	 * an outage, is not kept: both may be over.
	 */
	private static void remember(QueuedRequest queued, @Nullable QueueAnswer known) {
		if (known == null || known.isOutage() || !concerns(queued, known)
				|| queued.context().deadline().isImmediate()) {
			return;
		}
		Hold here = known.here();
		if (here == null || here.isHeld()) {
			queued.formerAnswer(known);
		}
	}

	/**
	 * Have a request whose wait time is over watch for an answer, unless it is the first.
	 */
	void stopWaiting(QueuedRequest queued) {
		if (this.others != null && this.others.remove(queued)) {
			this.awaited = !this.others.isEmpty();
			watch(queued);
		}
	}

	/**
	 * The watcher is added before the answer is read, and the answer is noted before the
	 * first looks for watchers: one of the two sees the other.
	 */
	private void watch(QueuedRequest queued) {
		if (this.watchers == null) {
			this.watchers = new LinkedHashSet<>(4);
		}
		this.watchers.add(queued);
		this.watched = true;
		QueueAnswer known = answerFor(queued);
		if (known != null) {
			unwatch(queued);
			queued.answer(known);
		}
	}

	private void unwatch(QueuedRequest queued) {
		if (this.watchers != null) {
			this.watchers.remove(queued);
			this.watched = !this.watchers.isEmpty();
		}
	}

	/**
	 * Collect the watchers to which the answer of the first applies, and a request with a
	 * higher limit, which becomes the first.
	 * @param told collects the requests, which have yet to be signalled
	 */
	void tell(List<QueuedRequest> told) {
		QueueAnswer known = this.answer;
		if (known != null && this.watchers != null) {
			this.watchers.stream().filter((watcher) -> concerns(watcher, known)).forEach(told::add);
			told.forEach((watcher) -> watcher.answer(known));
			told.forEach(this::unwatch);
		}
		List<QueuedRequest> behind = new ArrayList<>();
		if (this.mixed) {
			addTo(behind);
		}
		QueuedRequest next = overtake(behind);
		if (next != null) {
			told.add(next);
		}
	}

	/**
	 * Remove the next request that still waits.
	 * @param expired collects the requests before it whose wait time is over, which have
	 * yet to be signalled
	 * @param left the exclusive lease that is left to the request, or {@code null}
	 * @return the request, or {@code null} if none waits, or if it is a member, which
	 * would take the place of the lease before the queue of the store
	 */
	@Nullable QueuedRequest pollWaiting(List<QueuedRequest> expired, @Nullable Lease left) {
		if (this.others == null) {
			return null;
		}
		QueuedRequest next = null;
		for (Iterator<QueuedRequest> all = this.others.iterator(); next == null && all.hasNext();) {
			QueuedRequest queued = all.next();
			boolean over = queued.isExpired();
			if (!over && left != null && queued.isMember()) {
				break;
			}
			all.remove();
			if (over) {
				watch(queued);
				expired.add(queued);
			}
			else {
				next = queued;
			}
		}
		this.awaited = !this.others.isEmpty();
		return next;
	}

	/**
	 * Admit the requests of the queue to a shared lease, and those that only watch. An
	 * exclusive request ends the batch unless the lease is new.
	 * @param maxNanos how long a lease is new
	 * @param admitted collects the requests, which have yet to be signalled
	 */
	void admit(SharedLease lease, long maxNanos, List<QueuedRequest> admitted) {
		if (this.others != null) {
			for (Iterator<QueuedRequest> all = this.others.iterator(); all.hasNext();) {
				QueuedRequest queued = all.next();
				if (!queued.context().terms().isShared() && !lease.isNew(maxNanos)) {
					break;
				}
				if (admit(queued, lease, admitted)) {
					all.remove();
				}
			}
			this.awaited = !this.others.isEmpty();
		}
		if (this.watchers != null) {
			this.watchers.removeIf((queued) -> admit(queued, lease, admitted));
			this.watched = !this.watchers.isEmpty();
		}
	}

	private static boolean admit(QueuedRequest queued, SharedLease lease, List<QueuedRequest> admitted) {
		boolean joins = queued.isAdmissible() && lease.isOf(queued.context().terms());
		Hold hold = joins ? lease.join(queued.context()) : null;
		if (hold != null) {
			queued.admit(hold);
			admitted.add(queued);
		}
		return hold != null;
	}

	/**
	 * Offer a permit to the next request that waits. The first is the last choice, since
	 * it asks the store.
	 * @param lease the lease of the permit
	 * @param maxNanos how long after its grant a lease may be passed on
	 * @return the request, which has yet to be signalled, or {@code null} if the permit
	 * has to be released
	 */
	@Nullable QueuedRequest offer(Lease lease, long maxNanos) {
		QueuedRequest next = this.first;
		if (this.others != null) {
			next = this.others.stream().filter((queued) -> !queued.isExpired()).findFirst().orElse(next);
		}
		if (next == null || next.isExpired() || !next.isAdmissible()) {
			return null;
		}
		Hold hold = lease.passTo(next.context(), maxNanos);
		if (hold == null) {
			return null;
		}
		next.admit(hold);
		if (next != this.first) {
			remove(next);
		}
		return next;
	}

	/**
	 * Remove a request that only watches: without a first it has to ask the store itself.
	 * @return the request, or {@code null} if none watches
	 */
	@Nullable QueuedRequest pollWatching() {
		if (this.watchers == null || this.watchers.isEmpty()) {
			return null;
		}
		QueuedRequest queued = this.watchers.iterator().next();
		unwatch(queued);
		return queued;
	}

	void remove(QueuedRequest queued) {
		if (this.first == queued) {
			this.first = null;
			return;
		}
		if (this.others != null && this.others.remove(queued)) {
			this.awaited = !this.others.isEmpty();
		}
		unwatch(queued);
	}

	/**
	 * Whether a request waits behind the first. Thread-safe.
	 * @return whether there is one at the moment
	 */
	boolean isAwaited() {
		return this.awaited;
	}

	boolean isEmpty() {
		return this.first == null;
	}

	boolean contains(QueuedRequest queued) {
		List<QueuedRequest> all = new ArrayList<>();
		addTo(all);
		return all.contains(queued);
	}

	void addTo(List<QueuedRequest> requests) {
		QueuedRequest current = this.first;
		if (current != null) {
			requests.add(current);
		}
		if (this.others != null) {
			requests.addAll(this.others);
		}
		if (this.watchers != null) {
			requests.addAll(this.watchers);
		}
	}

}
