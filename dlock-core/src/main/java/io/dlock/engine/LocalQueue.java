package io.dlock.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The queue of a key. Guarded by the map of {@link LocalQueues}, but for the question
 * whether anybody waits.
 */
final class LocalQueue {

	private final Turn.Outage outage = new Turn.Outage();

	private @Nullable Turn first;

	private @Nullable Deque<Turn> others;

	private volatile boolean awaited;

	/** The lease of a queue without a first. */
	private @Nullable Lease left;

	@Nullable Turn first() {
		return this.first;
	}

	@Nullable Lease left() {
		return this.left;
	}

	/**
	 * Queue up. The first takes over what was left behind.
	 * @param turn the place
	 */
	void add(Turn turn) {
		turn.share(this.outage);
		if (this.first == null) {
			if (this.left != null) {
				turn.giveUpInStore(this.left);
				this.left = null;
			}
			this.first = turn;
			turn.becomeFirst();
			return;
		}
		if (this.others == null) {
			this.others = new ArrayDeque<>();
		}
		this.others.add(turn);
		this.awaited = true;
	}

	/**
	 * Remove a place.
	 * @param turn the place
	 * @return the place that is now the first and has yet to be told
	 */
	@Nullable Turn remove(Turn turn) {
		if (this.others == null) {
			this.first = (this.first != turn) ? this.first : null;
			return null;
		}
		boolean isFirst = this.first == turn;
		if (isFirst) {
			this.first = this.others.poll();
		}
		else {
			this.others.remove(turn);
		}
		this.awaited = !this.others.isEmpty();
		return isFirst ? this.first : null;
	}

	/**
	 * Remove the first place and keep its lease, if nobody waits.
	 * @param turn the first place
	 * @param lease its lease
	 * @return {@code false} if somebody waits; nothing has changed then
	 */
	boolean leaveBehind(Turn turn, Lease lease) {
		if (this.first != turn || waiters() > 0) {
			return false;
		}
		lease.withdraw();
		this.first = null;
		this.left = lease;
		return true;
	}

	/**
	 * Take what was left behind, and the first place.
	 * @param turn the place
	 * @param lease the lease, which somebody else may have taken
	 */
	void takeLeft(Turn turn, Lease lease) {
		if (this.left == lease) {
			this.left = null;
			add(turn);
		}
	}

	/**
	 * Whether anybody waits behind the first, for any thread to ask.
	 * @return whether there is somebody at the moment
	 */
	boolean isAwaited() {
		return this.awaited;
	}

	int waiters() {
		return (this.others != null) ? this.others.size() : 0;
	}

	boolean isEmpty() {
		return this.first == null && this.left == null;
	}

	void addTo(List<Turn> turns) {
		if (this.first != null) {
			turns.add(this.first);
		}
		if (this.others != null) {
			turns.addAll(this.others);
		}
	}

}
