package io.dlock.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * One queue for each key that is held or waited for in this process, first come first
 * served. A queue exists from the first waiter to the last release and is exact: keys
 * share nothing, and nothing is cached or evicted.
 */
final class LocalQueues {

	private final Map<String, LocalQueue> queues = new ConcurrentHashMap<>();

	/**
	 * Queue up.
	 * @param key the key
	 * @param onSignal what to call when the place becomes the first one later, or
	 * {@code null} to wake the calling thread
	 * @return the place, which may be the first already
	 */
	Turn join(String key, @Nullable Runnable onSignal) {
		Turn turn = new Turn(this, key, onSignal);
		this.queues.compute(key, (k, queue) -> {
			LocalQueue current = (queue != null) ? queue : new LocalQueue();
			current.add(turn);
			return current;
		});
		return turn;
	}

	void leave(Turn turn) {
		Turn[] heir = new Turn[1];
		this.queues.computeIfPresent(turn.key(), (key, queue) -> {
			heir[0] = queue.remove(turn);
			return queue.isEmpty() ? null : queue;
		});
		if (heir[0] != null) {
			heir[0].signal();
		}
	}

	/**
	 * Signal everybody, so that they notice that the registry is closed.
	 */
	void signalAll() {
		List<Turn> turns = new ArrayList<>();
		for (String key : this.queues.keySet()) {
			this.queues.computeIfPresent(key, (k, queue) -> {
				queue.addTo(turns);
				return queue;
			});
		}
		turns.forEach(Turn::signal);
	}

	int size() {
		return this.queues.size();
	}

	/**
	 * How many wait behind the first.
	 * @param key the key
	 * @return the number of waiters of this process
	 */
	int waiters(String key) {
		int[] waiters = new int[1];
		this.queues.computeIfPresent(key, (k, queue) -> {
			waiters[0] = queue.waiters();
			return queue;
		});
		return waiters[0];
	}

	/**
	 * The queue of a key. Guarded by the map.
	 */
	private static final class LocalQueue {

		private final Turn.Outage outage = new Turn.Outage();

		private @Nullable Turn first;

		private @Nullable Deque<Turn> others;

		void add(Turn turn) {
			turn.share(this.outage);
			if (this.first == null) {
				this.first = turn;
				turn.becomeFirst();
				return;
			}
			if (this.others == null) {
				this.others = new ArrayDeque<>();
			}
			this.others.add(turn);
		}

		/**
		 * Remove a place.
		 * @return the place that is the first now and was not before
		 */
		@Nullable Turn remove(Turn turn) {
			if (this.first != turn) {
				if (this.others != null) {
					this.others.remove(turn);
				}
				return null;
			}
			this.first = (this.others != null) ? this.others.poll() : null;
			if (this.first != null) {
				this.first.becomeFirst();
			}
			return this.first;
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
		}

	}

}
