package io.dlock.engine;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.dlock.store.MailboxAddress;

/**
 * The queue of a key. The first of it holds the lock or asks the store for it, the others
 * wait for the place of the first. A request whose wait time is over has no place: it
 * watches until the first knows whether the lock has a holder. Guarded by the map of
 * {@link LocalQueues}, except for the volatile fields.
 */
final class LocalQueue {

	private @Nullable Turn first;

	private @Nullable Set<Turn> others;

	private @Nullable Set<Turn> watchers;

	private volatile boolean awaited;

	private volatile boolean watched;

	private volatile @Nullable Answer answer;

	private volatile @Nullable MailboxAddress queuedAt;

	@Nullable Turn first() {
		return this.first;
	}

	boolean isFirst(Turn turn) {
		return this.first == turn;
	}

	/**
	 * The latest knowledge about the lock.
	 * @return the answer, or {@code null} as long as the first has none
	 */
	@Nullable Answer answer() {
		return this.answer;
	}

	/**
	 * Note the answer that the first has from the store.
	 * @param known the answer, or {@code null} if the former one is out of date
	 * @return whether a request watches for it
	 */
	boolean note(@Nullable Answer known) {
		this.answer = known;
		return known != null && this.watched;
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

	void add(Turn turn) {
		turn.joined(this);
		if (this.first == null) {
			makeFirst(turn);
		}
		else if (turn.isExpired()) {
			watch(turn);
		}
		else {
			if (this.others == null) {
				this.others = new LinkedHashSet<>(4);
			}
			this.others.add(turn);
			this.awaited = true;
		}
	}

	/**
	 * Give the first place to a turn. Its answer is the one before only as long as a
	 * lease is on offer to it.
	 * @param turn the turn
	 */
	void makeFirst(Turn turn) {
		this.first = turn;
		if (!turn.hasOffer()) {
			this.answer = null;
		}
		turn.becomeFirst();
	}

	/**
	 * Take the place of a request whose wait is over.
	 * @param turn the turn, which keeps its place if that is the first
	 */
	void stopWaiting(Turn turn) {
		if (this.others != null && this.others.remove(turn)) {
			this.awaited = !this.others.isEmpty();
			watch(turn);
		}
	}

	/**
	 * The watcher is added before the answer is read, and the answer is noted before the
	 * first looks for watchers: one of the two sees the other.
	 */
	private void watch(Turn turn) {
		if (this.watchers == null) {
			this.watchers = new LinkedHashSet<>(4);
		}
		this.watchers.add(turn);
		this.watched = true;
		Answer known = this.answer;
		if (known != null) {
			unwatch(turn);
			turn.told(known);
		}
	}

	private void unwatch(Turn turn) {
		if (this.watchers != null) {
			this.watchers.remove(turn);
			this.watched = !this.watchers.isEmpty();
		}
	}

	/**
	 * Collect the watchers that the answer of the first is for.
	 * @param told collects the watchers, which have yet to be signalled
	 */
	void tell(List<Turn> told) {
		Answer known = this.answer;
		if (known != null && this.watchers != null) {
			this.watchers.forEach((watcher) -> watcher.told(known));
			told.addAll(this.watchers);
			this.watchers.clear();
			this.watched = false;
		}
	}

	/**
	 * Take the next turn that still waits.
	 * @param expired collects the turns before it whose wait is over, which have yet to
	 * be signalled
	 * @return the turn, or {@code null} if none waits
	 */
	@Nullable Turn pollWaiting(List<Turn> expired) {
		if (this.others == null) {
			return null;
		}
		Turn next = null;
		for (Iterator<Turn> all = this.others.iterator(); next == null && all.hasNext();) {
			Turn turn = all.next();
			all.remove();
			if (turn.isExpired()) {
				watch(turn);
				expired.add(turn);
			}
			else {
				next = turn;
			}
		}
		this.awaited = !this.others.isEmpty();
		return next;
	}

	/**
	 * Take a turn that only watches: without a first it has to ask the store itself.
	 * @return the turn, or {@code null} if none watches
	 */
	@Nullable Turn pollWatching() {
		if (this.watchers == null || this.watchers.isEmpty()) {
			return null;
		}
		Turn turn = this.watchers.iterator().next();
		unwatch(turn);
		return turn;
	}

	/**
	 * Remove a turn.
	 * @param turn the turn
	 */
	void remove(Turn turn) {
		if (this.first == turn) {
			this.first = null;
			return;
		}
		if (this.others != null && this.others.remove(turn)) {
			this.awaited = !this.others.isEmpty();
		}
		unwatch(turn);
	}

	/**
	 * Whether a turn waits behind the first. Any thread may ask.
	 * @return whether there is one at the moment
	 */
	boolean isAwaited() {
		return this.awaited;
	}

	int waiters() {
		return (this.others != null) ? this.others.size() : 0;
	}

	boolean isEmpty() {
		return this.first == null;
	}

	void addTo(List<Turn> turns) {
		if (this.first != null) {
			turns.add(this.first);
		}
		if (this.others != null) {
			turns.addAll(this.others);
		}
		if (this.watchers != null) {
			turns.addAll(this.watchers);
		}
	}

}
