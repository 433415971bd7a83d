package io.dlock.engine.queue;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.SharedLease;
import io.dlock.engine.lease.StoreReleaser;

/**
 * The queueing of requests for shared locks and permits. A request that is granted leaves
 * its queue at once, so that the next one asks the store. Requests that need not ask are
 * admitted: readers to a shared lease, others to a permit that is passed on.
 */
public final class MemberQueues {

	private final LocalQueues queues;

	private final StoreQueuePlaces places;

	private final StoreReleaser releaser;

	/** How long after its grant a permit may be passed on, and a shared lease is new. */
	private final long maxHandOffNanos;

	public MemberQueues(LocalQueues queues, StoreReleaser releaser, long maxHandOffNanos) {
		this.queues = queues;
		this.places = new StoreQueuePlaces(queues);
		this.releaser = releaser;
		this.maxHandOffNanos = maxHandOffNanos;
	}

	/**
	 * Claim the hold to which a request was admitted. A request that was admitted but
	 * could not use the hold goes back to its queue.
	 * @param queued the request, whose turn it is
	 * @return the hold, or {@code null} if there is none or it came too late
	 */
	public @Nullable Hold claim(QueuedRequest queued) {
		Hold admission = queued.takeAdmission();
		if (admission == null || isUsable(admission)) {
			return admission;
		}
		giveBack(admission, queued.isAsynchronous());
		boolean[] waits = new boolean[1];
		// it may have been the first, have been overtaken, and have another permit on
		// offer
		this.queues.change(queued.queueName(), (queue) -> waits[0] = queued.hasOffer() || queue.contains(queued));
		if (!waits[0]) {
			queued.turn(false);
			this.queues.add(queued);
		}
		return null;
	}

	private static boolean isUsable(Hold admission) {
		return admission.isHeld() ? admission.isValid() && !admission.lease().isTooLate() : admission.claim();
	}

	/**
	 * Have a request that was granted leave its queue. The readers behind it are admitted
	 * to its lease, as one batch, and expired exclusive requests are told of it.
	 * @param queued the request
	 * @param hold its hold, whose lease is renewed already
	 */
	public void granted(QueuedRequest queued, Hold hold) {
		queued.granted();
		List<QueuedRequest> admitted = new ArrayList<>();
		if (hold.lease() instanceof SharedLease shared) {
			this.queues.change(queued.queueName(), (queue) -> {
				if (queue.isFirst(queued)) {
					queue.admit(shared, this.maxHandOffNanos, admitted);
				}
			});
		}
		this.queues.answer(queued, QueueAnswer.sharedHere(hold));
		leave(queued, queued.isAsynchronous());
		admitted.forEach(QueuedRequest::signal);
	}

	/**
	 * Remove a request. Only the first call counts.
	 * @param queued the request
	 * @param inBackground whether the calling thread must not wait for the store
	 */
	public void leave(QueuedRequest queued, boolean inBackground) {
		this.queues.leave(queued);
		Hold unused = queued.takeAdmission();
		if (unused != null) {
			giveBack(unused, inBackground);
		}
	}

	/**
	 * Pass a permit whose release has begun on to the next request.
	 * @param hold the permit
	 * @return {@code false} if no request waits for it
	 */
	public boolean pass(Hold hold) {
		QueuedRequest[] next = new QueuedRequest[1];
		this.queues.change(hold.context().storageKey(),
				(queue) -> next[0] = queue.offer(hold.lease(), this.maxHandOffNanos));
		if (next[0] != null) {
			next[0].signal();
		}
		return next[0] != null;
	}

	/**
	 * Give back a hold that was not used.
	 * @param unused the hold
	 * @param inBackground whether the calling thread must not wait for the store
	 */
	public void giveBack(Hold unused, boolean inBackground) {
		if (!unused.decline()) {
			unused.beginRelease();
		}
		Lease lease = unused.lease();
		if (lease.leave(unused)) {
			this.releaser.end(lease);
			this.releaser.giveBack(lease, inBackground, () -> released(unused));
		}
	}

	/**
	 * Have the first request of this process ask the store, which has a free place now,
	 * if the place may be for it.
	 * @param hold a hold that has been released in the store
	 */
	public void released(Hold hold) {
		this.places.onReleased(hold.context().storageKey());
	}

}
