package io.dlock.engine.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.dlock.LockRegistryClosedException;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.StoreReleaser;

/**
 * One queue for each key that is held exclusively or waited for in this process, and one
 * for each fair request, first come first served, except that a request with a higher
 * limit may overtake. A queue exists until its last request has left it and is exact:
 * keys share nothing, and nothing is cached or evicted.
 * <p>
 * A request that leaves the first place while others wait leaves its lease to the next:
 * on offer, if it can be passed on, and otherwise to be given up with the next call to
 * the store, which the next request has to make anyway. The next is a request that still
 * waits: an expired request receives no offer and delays no other. A lease is released
 * before a shared request or one for a permit asks the store.
 */
public final class LocalQueues {

	/** Keyed by queue name, which messages of the store carry. */
	private final Map<String, LocalQueue> queues = new ConcurrentHashMap<>();

	private final BackgroundReleases releases = new BackgroundReleases();

	private final StoreReleaser releaser;

	/** How long after its grant a lease may be passed on. */
	private final long maxHandOffNanos;

	private volatile boolean open = true;

	public LocalQueues(long maxHandOffNanos, StoreReleaser releaser) {
		this.maxHandOffNanos = maxHandOffNanos;
		this.releaser = releaser;
	}

	/**
	 * Add a request to the queue of its key.
	 * @param context the call
	 * @param onSignal called when the request becomes the first later or the store
	 * signals an available lock; {@code null} to wake the calling thread
	 * @return the request, which may be the first already
	 */
	public QueuedRequest join(AcquireContext context, @Nullable Runnable onSignal) {
		QueuedRequest queued = new QueuedRequest(context, onSignal);
		add(queued);
		return queued;
	}

	/**
	 * Add a request for a key that no request of this process holds, waits for or
	 * releases.
	 * @param context the call
	 * @return the request, the first of its queue, or {@code null} if there is another
	 */
	public @Nullable QueuedRequest joinAlone(AcquireContext context) {
		QueuedRequest queued = new QueuedRequest(context, () -> {
		});
		return (this.releases.find(context.storageKey()) == null && joinEmpty(queued)) ? queued : null;
	}

	/**
	 * Add a request at the end of the queue of its key.
	 */
	void add(QueuedRequest queued) {
		if (!joinEmpty(queued)) {
			if (queued.isExpired()) {
				checkHolder(queued.queueName());
			}
			this.queues.compute(queued.queueName(), (key, queue) -> {
				if (queue == null) {
					queued.becomeFirst();
					return new LocalQueue(queued);
				}
				queue.add(queued);
				return queue;
			});
		}
	}

	/**
	 * Declare a holder lost whose lease is over, which gives up its place then: it is no
	 * answer for a try, even if this process was paused and no thread has noticed.
	 */
	private void checkHolder(String queueName) {
		LocalQueue queue = this.queues.get(queueName);
		Hold holder = (queue != null) ? queue.holder() : null;
		if (holder != null) {
			holder.isValid();
		}
	}

	/**
	 * Begin a queue. The request becomes the first after its insertion, because only the
	 * request itself asks for that.
	 */
	private boolean joinEmpty(QueuedRequest queued) {
		boolean first = this.queues.putIfAbsent(queued.queueName(), new LocalQueue(queued)) == null;
		if (first) {
			queued.becomeFirst();
		}
		return first;
	}

	/**
	 * Change a queue, if it exists, under its lock.
	 * @param queueName the name of the queue
	 * @param change the change, which does not block and leaves a request in the queue
	 */
	void change(String queueName, Consumer<LocalQueue> change) {
		this.queues.computeIfPresent(queueName, (key, queue) -> {
			change.accept(queue);
			return queue;
		});
	}

	/**
	 * Whether a request of this process, unless it is fair, waits for the key or holds it
	 * in its queue.
	 */
	public boolean isQueued(String storageKey) {
		return this.queues.containsKey(storageKey);
	}

	/**
	 * Remove the request that holds a lock, which is lost or released. Only the first
	 * call counts.
	 */
	public void leave(Hold hold) {
		LocalQueue queue = this.queues.get(hold.context().queueName());
		QueuedRequest holder = (queue != null) ? queue.holder(hold) : null;
		if (holder != null) {
			leave(holder);
		}
	}

	/**
	 * Remove a request. Only the first call counts.
	 */
	public void leave(QueuedRequest queued) {
		leave(queued, queued.isAsynchronous());
	}

	/**
	 * Remove a request. Only the first call counts.
	 * @param queued the request
	 * @param inBackground whether the calling thread must not wait for the store
	 */
	public void leave(QueuedRequest queued, boolean inBackground) {
		if (queued.end()) {
			remove(queued, inBackground);
		}
	}

	/**
	 * An unused lease goes to the next request, or is released in the store. The request
	 * keeps its place until then.
	 */
	private void remove(QueuedRequest queued, boolean inBackground) {
		RequestRemoval removal = new RequestRemoval(queued, this.maxHandOffNanos);
		this.queues.computeIfPresent(queued.queueName(), removal);
		removal.finish(this.releaser);
		if (removal.lease != null && removal.successor == null) {
			this.releaser.giveBack(removal.lease, inBackground, () -> remove(queued, inBackground));
		}
	}

	/**
	 * Pass a lock whose release has begun on to the next request, if there is one.
	 * @return {@code false} if no request waits that takes over the lease; the holder
	 * keeps its place then
	 */
	public boolean pass(Hold hold) {
		String name = hold.context().queueName();
		LocalQueue current = this.queues.get(name);
		QueuedRequest holder = (current != null && current.isAwaited()) ? current.holder(hold) : null;
		if (holder == null) {
			// a request that comes now is served when the holder leaves
			return false;
		}
		RequestRemoval removal = new RequestRemoval(holder, this.maxHandOffNanos);
		this.queues.computeIfPresent(name, (key, queue) -> {
			removal.pass(queue, hold.lease());
			return queue;
		});
		removal.finish(this.releaser);
		return removal.successor != null;
	}

	/**
	 * Note that a lock is released in the background. A try that comes meanwhile waits or
	 * watches until that is done.
	 * @param hold the lock, whose release has begun
	 * @return notes the end of the release
	 */
	public Runnable releasing(Hold hold) {
		AcquireContext context = hold.context();
		if (hold.lease().isMember() || context.address() != null) {
			return this.releases.begin(context.storageKey());
		}
		change(context.queueName(), (queue) -> {
			if (queue.holder(hold) != null) {
				queue.releasing();
			}
		});
		return () -> {
		};
	}

	public BackgroundReleases releases() {
		return this.releases;
	}

	/**
	 * Put another request in the place of one that holds a lock whose release has begun.
	 * @param hold the lock, whose lease the next call to the store gives up
	 * @param context the call
	 * @return the request, the first of its queue
	 */
	public QueuedRequest replace(Hold hold, AcquireContext context) {
		QueuedRequest queued = new QueuedRequest(context, null);
		change(context.queueName(), (queue) -> {
			QueuedRequest holder = queue.holder(hold);
			if (holder != null && holder.end()) {
				queued.takeOver(hold.lease(), this.maxHandOffNanos);
				queue.makeFirst(queued);
			}
		});
		return queued;
	}

	/**
	 * Claim the lease that is on offer to the first of a queue. The next call to the
	 * store gives up a lease that was offered too late.
	 * @return the hold, or {@code null} if there is no offer or it came too late
	 */
	public @Nullable Hold claim(QueuedRequest queued) {
		if (!queued.hasOffer()) {
			return null;
		}
		Hold hold = queued.claim();
		Lease tooLate = queued.predecessor();
		if (hold == null && tooLate != null) {
			this.releaser.end(tooLate);
			answer(queued, null);
		}
		return hold;
	}

	/**
	 * Note that the first of a queue holds the lock. It keeps its place until the lock is
	 * released.
	 */
	public void granted(QueuedRequest queued, Hold hold) {
		queued.granted();
		LocalQueue queue = queueOfFirst(queued);
		if (queue != null) {
			queue.queuedAt(null);
		}
		answer(queued, QueueAnswer.heldHere(hold));
	}

	/**
	 * Note the answer of the store to the first request of a queue, and tell it to the
	 * requests that watch for it.
	 * @param first the first of the queue
	 * @param known the answer, or {@code null} if the former one is out of date
	 */
	public void answer(QueuedRequest first, @Nullable QueueAnswer known) {
		LocalQueue current = queueOfFirst(first);
		if (current == null || !current.note(known)) {
			return;
		}
		List<QueuedRequest> answered = new ArrayList<>();
		this.queues.computeIfPresent(first.queueName(), (key, queue) -> {
			queue.tell(answered);
			return queue;
		});
		answered.forEach(QueuedRequest::signal);
	}

	/**
	 * The queue of a request, if that is the first.
	 */
	@Nullable LocalQueue queueOfFirst(QueuedRequest queued) {
		LocalQueue queue = this.queues.get(queued.queueName());
		return (queue != null && queue.isFirst(queued)) ? queue : null;
	}

	/**
	 * The first request of a queue.
	 * @param queueName the name of the queue
	 * @return the request, or {@code null} if the queue does not exist
	 */
	@Nullable QueuedRequest first(String queueName) {
		LocalQueue queue = this.queues.get(queueName);
		return (queue != null) ? queue.first() : null;
	}

	/**
	 * The latest answer that the first of the queue of a request has from the store, or
	 * the last one that a first had while the request waited. The outage that another
	 * request has met does not count: the store may answer this one.
	 * @return the answer, or {@code null} as long as there is none
	 */
	public @Nullable QueueAnswer latestAnswer(QueuedRequest queued) {
		QueueAnswer told = queued.answer();
		if (told != null) {
			return told;
		}
		LocalQueue queue = this.queues.get(queued.queueName());
		QueueAnswer known = (queue != null) ? queue.answerFor(queued) : null;
		boolean concerned = known != null && (queued.isFirst() || !known.isOutage());
		return concerned ? known : queued.formerAnswer();
	}

	/**
	 * End the wait of a request whose wait time is over, unless it is the first by now.
	 * @param queued the request, which from here on only watches for an answer
	 * @return the answer, or {@code null} if the request is the first, or if the first
	 * has no answer yet
	 */
	public @Nullable QueueAnswer stopWaiting(QueuedRequest queued) {
		if (queued.answer() == null) {
			this.queues.computeIfPresent(queued.queueName(), (key, queue) -> {
				queue.stopWaiting(queued);
				return queue;
			});
		}
		return queued.answer();
	}

	/**
	 * Close the queues: waiting requests wake up and fail, and leases are not passed on
	 * any more.
	 */
	public void close() {
		this.open = false;
		requests().forEach(QueuedRequest::signal);
	}

	public boolean isOpen() {
		return this.open;
	}

	public void failIfClosed(String key) {
		if (!this.open) {
			throw new LockRegistryClosedException(key);
		}
	}

	/**
	 * The requests that wait for a lock, key by key. Each queue is locked only as long as
	 * it is copied.
	 */
	public List<QueuedRequest> waiting() {
		return requests().stream().filter(QueuedRequest::isWaiting).toList();
	}

	private List<QueuedRequest> requests() {
		List<QueuedRequest> requests = new ArrayList<>();
		for (String key : this.queues.keySet()) {
			this.queues.computeIfPresent(key, (k, queue) -> {
				queue.addTo(requests);
				return queue;
			});
		}
		return requests;
	}

	/**
	 * Whether no request holds an exclusive lock or waits.
	 */
	public boolean isEmpty() {
		return this.queues.isEmpty();
	}

	public int size() {
		return this.queues.size();
	}

}
