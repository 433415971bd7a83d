package io.dlock.engine.queue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.StoreReleaser;

/**
 * The removal of a request from its queue, as a change of the queue under its lock. The
 * effects are carried out after that lock has been released.
 */
final class RequestRemoval implements BiFunction<String, LocalQueue, @Nullable LocalQueue> {

	private final QueuedRequest queued;

	private final long maxHandOffNanos;

	private List<QueuedRequest> answered = Collections.emptyList();

	@Nullable Lease lease;

	@Nullable QueuedRequest successor;

	private boolean passedOn;

	RequestRemoval(QueuedRequest queued, long maxHandOffNanos) {
		this.queued = queued;
		this.maxHandOffNanos = maxHandOffNanos;
	}

	/**
	 * Remove the request. A lease that was left to it goes to the next. Without a next
	 * one the request keeps its place.
	 * @return the queue, or {@code null} if it is empty
	 */
	@Override
	public @Nullable LocalQueue apply(String key, LocalQueue queue) {
		if (!queue.isFirst(this.queued)) {
			queue.remove(this.queued);
			return queue;
		}
		this.lease = this.queued.removeUnusedLease();
		// tries for a permit take turns with requests that wait: all may be granted
		boolean tryNext = this.queued.isMember() && !this.queued.context().terms().isShared()
				&& !this.queued.isWaiting() && !this.queued.isExpired();
		this.successor = tryNext ? queue.pollWatching() : null;
		this.successor = (this.successor != null) ? this.successor : pollWaiting(queue, this.lease);
		if (this.successor == null && this.lease != null) {
			queue.note(null);
			return queue;
		}
		queue.remove(this.queued);
		this.successor = (this.successor != null) ? this.successor : queue.pollWatching();
		settle(queue);
		if (this.successor == null || this.successor.isMember() != this.queued.isMember()) {
			// the place of an exclusive request keeps shared requests waiting,
			// including those of this process
			this.queued.leftStoreQueue(queue.queuedAt());
			queue.queuedAt(null);
		}
		return queue.isEmpty() ? null : queue;
	}

	/**
	 * Remove the request if another one waits for its lease.
	 */
	void pass(LocalQueue queue, Lease held) {
		this.successor = queue.isFirst(this.queued) ? pollWaiting(queue, held) : null;
		if (this.successor != null) {
			this.queued.end();
			this.lease = held;
			queue.remove(this.queued);
			settle(queue);
		}
	}

	private @Nullable QueuedRequest pollWaiting(LocalQueue queue, @Nullable Lease left) {
		if (!queue.isAwaited()) {
			return null;
		}
		this.answered = new ArrayList<>(0);
		return queue.pollWaiting(this.answered, left);
	}

	/**
	 * The lease comes first: a request that finds itself the first without one would call
	 * the store.
	 */
	private void settle(LocalQueue queue) {
		if (this.successor == null) {
			return;
		}
		if (this.lease != null) {
			this.passedOn = this.successor.takeOver(this.lease, this.maxHandOffNanos);
		}
		queue.makeFirst(this.successor);
	}

	void finish(StoreReleaser releaser) {
		if (this.lease != null && !this.passedOn) {
			releaser.end(this.lease);
		}
		this.answered.forEach(QueuedRequest::signal);
		if (this.successor != null) {
			this.successor.signal();
		}
	}

}
