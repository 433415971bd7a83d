package io.dlock.engine.queue;

import org.jspecify.annotations.Nullable;

import io.dlock.store.MailboxAddress;

/**
 * The places of this process in the queues of the store, and the signals to them. All
 * requests of a {@linkplain LocalQueues local queue} share one place, which the first of
 * them uses.
 */
public final class StoreQueuePlaces {

	private final LocalQueues queues;

	public StoreQueuePlaces(LocalQueues queues) {
		this.queues = queues;
	}

	/**
	 * The place of a request.
	 * @param first the request, the first of its queue
	 * @return the address, or {@code null} if the store has not queued this process
	 */
	public @Nullable MailboxAddress of(QueuedRequest first) {
		LocalQueue queue = this.queues.queueOfFirst(first);
		return (queue != null) ? queue.queuedAt() : null;
	}

	/**
	 * Note the place of a request.
	 * @param first the request, the first of its queue
	 * @param address the address, or {@code null} if the store has not queued this
	 * process
	 */
	public void set(QueuedRequest first, @Nullable MailboxAddress address) {
		LocalQueue queue = this.queues.queueOfFirst(first);
		if (queue != null) {
			queue.queuedAt(address);
		}
	}

	/**
	 * Keep a place for the requests that are here now.
	 * @return {@code false} if there are none, or if the first is of the other kind:
	 * places of members and of exclusive owners are not the same
	 */
	boolean keep(String storageKey, MailboxAddress address, boolean member) {
		boolean[] kept = new boolean[1];
		this.queues.change(storageKey, (queue) -> {
			QueuedRequest first = queue.first();
			kept[0] = first != null && first.isMember() == member;
			if (kept[0]) {
				queue.queuedAt(address);
			}
		});
		return kept[0];
	}

	/**
	 * Wake the first of a queue because this process has released a shared lock or a
	 * permit, unless the store gives its place to another process. The last refusal is
	 * out of date.
	 */
	void onReleased(String storageKey) {
		QueuedRequest[] woken = new QueuedRequest[1];
		this.queues.change(storageKey, (queue) -> {
			QueuedRequest first = queue.first();
			if (first != null && !first.isPreceded()) {
				queue.outdate();
				woken[0] = first;
			}
		});
		if (woken[0] != null) {
			woken[0].onLockAvailable();
		}
	}

	/**
	 * Wake the first of a queue because the store has signalled an available lock.
	 * @return {@code false} if no request of this process waits for the key
	 */
	public boolean onLockAvailable(String queueName) {
		QueuedRequest[] first = new QueuedRequest[1];
		this.queues.change(queueName, (queue) -> first[0] = queue.first());
		if (first[0] != null) {
			first[0].onLockAvailable();
		}
		return first[0] != null;
	}

}
