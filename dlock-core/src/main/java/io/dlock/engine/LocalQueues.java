package io.dlock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.dlock.store.StorageKey;

/**
 * One queue for each key that is held or waited for in this process, first come first
 * served. A queue exists from the first waiter to the last release and is exact: keys
 * share nothing, and nothing is cached or evicted.
 * <p>
 * A turn that leaves the first place while others wait leaves its lease to the next: on
 * offer, if it can be passed on, and otherwise to be given up with the next call to the
 * store, which the next has to make anyway. The next is a request that still waits: one
 * whose wait time is over is neither offered a lease nor waited for.
 */
final class LocalQueues {

	/** By storage key, which is what messages of the store name. */
	private final Map<String, LocalQueue> queues = new ConcurrentHashMap<>();

	private final Leftovers leftovers;

	private final long maxHandOffNanos;

	/**
	 * Create the queues.
	 * @param maxHandOffNanos how long after its grant a lease may be passed on
	 * @param leftovers what becomes of leases that are not passed on
	 */
	LocalQueues(long maxHandOffNanos, Leftovers leftovers) {
		this.maxHandOffNanos = maxHandOffNanos;
		this.leftovers = leftovers;
	}

	/**
	 * Queue up.
	 * @param acquisition the request
	 * @param onSignal what to call when the place becomes the first later or the store
	 * calls, or {@code null} to wake the calling thread
	 * @return the place, which may be the first already
	 */
	Turn join(Acquisition acquisition, @Nullable Runnable onSignal) {
		Turn turn = new Turn(this, acquisition, onSignal);
		this.queues.compute(turn.storageKey(), (k, queue) -> {
			LocalQueue current = (queue != null) ? queue : new LocalQueue();
			current.add(turn);
			return current;
		});
		return turn;
	}

	/**
	 * Give up a place. A lease that was left to it goes to the next, or back to the
	 * store, and the place is kept until it is there.
	 * @param turn the place
	 */
	void leave(Turn turn) {
		Departure departure = new Departure();
		this.queues.computeIfPresent(turn.storageKey(), (key, queue) -> {
			if (!queue.isFirst(turn)) {
				queue.remove(turn);
				return queue;
			}
			departure.lease = turn.takeInheritance();
			departure.heir = queue.pollWaiting(departure.told);
			if (departure.heir == null && departure.lease != null) {
				queue.note(null);
				return queue;
			}
			queue.remove(turn);
			departure.heir = (departure.heir != null) ? departure.heir : queue.pollWatching();
			departure.settle(queue, this.maxHandOffNanos);
			turn.leftStoreQueue(queue.isEmpty() ? queue.queuedAt() : null);
			return queue.isEmpty() ? null : queue;
		});
		finish(departure);
		if (departure.lease != null && departure.heir == null) {
			this.leftovers.giveBack(departure.lease, turn.isAsynchronous(), () -> leave(turn));
		}
	}

	/**
	 * Give up the first place and leave the lease to the next, if there is one.
	 * @param turn the first place
	 * @param lease its lease
	 * @return {@code false} if no request waits; the place is kept then
	 */
	boolean pass(Turn turn, Lease lease) {
		LocalQueue current = this.queues.get(turn.storageKey());
		if (current == null || !current.isAwaited()) {
			// a request that comes now is served when the place is given up
			return false;
		}
		Departure departure = new Departure();
		this.queues.computeIfPresent(turn.storageKey(), (key, queue) -> {
			departure.heir = queue.pollWaiting(departure.told);
			if (departure.heir != null) {
				departure.lease = lease;
				queue.remove(turn);
				departure.settle(queue, this.maxHandOffNanos);
			}
			return queue;
		});
		finish(departure);
		return departure.heir != null;
	}

	private void finish(Departure departure) {
		if (departure.lease != null && !departure.passedOn) {
			this.leftovers.endOf(departure.lease);
		}
		departure.told.forEach(Turn::signal);
		if (departure.heir != null) {
			departure.heir.signal();
		}
	}

	/**
	 * A lease on offer was not taken, and is given up with the next call to the store.
	 * @param lease the lease
	 */
	void endOf(Lease lease) {
		this.leftovers.endOf(lease);
	}

	/**
	 * End the wait of a request whose wait time is over, unless its turn has come.
	 * @param turn the place, which from here on only watches for an answer
	 */
	void stopWaiting(Turn turn) {
		this.queues.computeIfPresent(turn.storageKey(), (key, queue) -> {
			queue.stopWaiting(turn);
			return queue;
		});
	}

	/**
	 * Tell the watching requests of a queue the answer that its first has from the store.
	 * @param storageKey the storage key
	 */
	void tellWatchers(String storageKey) {
		List<Turn> told = new ArrayList<>();
		this.queues.computeIfPresent(storageKey, (key, queue) -> {
			queue.tell(told);
			return queue;
		});
		told.forEach(Turn::signal);
	}

	/**
	 * Call the first of a queue to the store.
	 * @param storageKey the storage key
	 * @return whether there is a queue
	 */
	boolean call(String storageKey) {
		Turn[] first = new Turn[1];
		this.queues.computeIfPresent(storageKey, (key, queue) -> {
			first[0] = queue.first();
			return queue;
		});
		if (first[0] != null) {
			first[0].call();
		}
		return first[0] != null;
	}

	/**
	 * Signal everybody, so that they notice that the registry is closed.
	 */
	void signalAll() {
		turns().forEach(Turn::signal);
	}

	/**
	 * Who waits for a lock, key by key. Nobody is kept from anything for longer than it
	 * takes to copy a queue.
	 * @return their places
	 */
	List<Turn> waiting() {
		return turns().stream().filter(Turn::isWaiting).toList();
	}

	private List<Turn> turns() {
		List<Turn> turns = new ArrayList<>();
		for (String key : this.queues.keySet()) {
			this.queues.computeIfPresent(key, (k, queue) -> {
				queue.addTo(turns);
				return queue;
			});
		}
		return turns;
	}

	/**
	 * Wait until nobody holds or waits any more, for a short time at shutdown.
	 * @param limit when to stop waiting
	 */
	void awaitNone(Deadline limit) {
		long pause = TimeUnit.MILLISECONDS.toNanos(1);
		for (long left = limit.remainingNanos(); left > 0 && !this.queues.isEmpty(); left -= pause) {
			LockSupport.parkNanos(this, pause);
		}
	}

	int size() {
		return this.queues.size();
	}

	/**
	 * Whether anybody of this process holds a key or waits for it.
	 * @param key the key
	 * @return whether there is a queue
	 */
	boolean contains(String key) {
		return this.queues.containsKey(StorageKey.of(key));
	}

	/**
	 * How many wait behind the first.
	 * @param key the key
	 * @return the number of waiters of this process
	 */
	int waiters(String key) {
		int[] waiters = new int[1];
		this.queues.computeIfPresent(StorageKey.of(key), (k, queue) -> {
			waiters[0] = queue.waiters();
			return queue;
		});
		return waiters[0];
	}

	/**
	 * What becomes of a lease that is not passed on.
	 */
	interface Leftovers {

		/**
		 * The lease is not to be renewed or watched any more.
		 * @param lease the lease
		 */
		void endOf(Lease lease);

		/**
		 * Release a lease in the store that no request takes over.
		 * @param lease the lease, which has ended
		 * @param inBackground whether the calling thread must not wait for the store
		 * @param then the action after the release
		 */
		void giveBack(Lease lease, boolean inBackground, Runnable then);

	}

	/**
	 * What happens when a place is given up.
	 */
	private static final class Departure {

		private final List<Turn> told = new ArrayList<>(0);

		private @Nullable Lease lease;

		private @Nullable Turn heir;

		private boolean passedOn;

		/**
		 * The inheritance comes first: an heir that finds itself the first without one
		 * would turn to the store.
		 */
		void settle(LocalQueue queue, long maxHandOffNanos) {
			if (this.heir == null) {
				return;
			}
			if (this.lease != null) {
				this.passedOn = this.heir.inherit(this.lease, maxHandOffNanos);
			}
			queue.makeFirst(this.heir);
		}

	}

}
