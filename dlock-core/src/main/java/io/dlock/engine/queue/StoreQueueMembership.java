package io.dlock.engine.queue;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.store.LockStore;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StorageKey;

/**
 * The membership of this process in the queues of the store: one address and one mailbox
 * for all keys, opened when a request has to wait for another process for the first time.
 * Each fair request has an address of its own at the same mailbox.
 * <p>
 * Signals of the store are hints. A lost signal costs a poll interval for each process
 * that is queued before this one, a late one is passed on to the next process.
 * <p>
 * The address says how long the store keeps a lock for this process: not long if the
 * process listens, so that a dead process delays the others little, and two poll
 * intervals as long as its mailbox cannot be opened, so that it is not passed over by
 * processes that listen.
 */
public final class StoreQueueMembership implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(StoreQueueMembership.class);

	/** How long a lock is reserved for a process that listens. */
	private static final Duration LISTENING_TIMEOUT = Duration.ofMillis(50);

	/**
	 * How many of its poll intervals a lock is reserved for a process that only polls.
	 */
	private static final int POLLS_PER_RESERVATION = 2;

	private static final Duration RETRY_PAUSE = Duration.ofSeconds(5);

	private static final Duration FIRST_LEAVE_PAUSE = Duration.ofMillis(500);

	/** Members that come are told to wait for a dead process for ten seconds. */
	private static final Duration LAST_LEAVE_PAUSE = Duration.ofSeconds(4);

	private static final int MAX_REPEATED_LEAVES = 32;

	private final LockStore store;

	private final EngineThreads threads;

	private final StoreQueuePlaces places;

	private final MailboxAddress listeningAddress = MailboxAddress.create(LISTENING_TIMEOUT);

	/** {@code null} if the poll interval is too long to keep a lock for it. */
	private final @Nullable MailboxAddress pollingAddress;

	private final AtomicInteger requests = new AtomicInteger();

	private final AtomicBoolean opening = new AtomicBoolean();

	private final Semaphore repeatedLeaves = new Semaphore(MAX_REPEATED_LEAVES);

	private volatile @Nullable MailboxAddress address;

	private volatile @Nullable Mailbox mailbox;

	private volatile boolean closed;

	public StoreQueueMembership(LockStore store, EngineThreads threads, StoreQueuePlaces places,
			Duration maxPollInterval) {
		this.store = store;
		this.threads = threads;
		this.places = places;
		Duration reservationTime = maxPollInterval.multipliedBy(POLLS_PER_RESERVATION);
		this.pollingAddress = (reservationTime.compareTo(MailboxAddress.MAX_RESERVATION_TIME) <= 0)
				? MailboxAddress.create(reservationTime) : null;
	}

	/**
	 * The address for the queues of the store.
	 * @return the address, or {@code null} before the first wait
	 */
	public @Nullable MailboxAddress address() {
		return this.address;
	}

	/**
	 * An address for one request. A request that comes before the mailbox is open polls.
	 * @return the address, which is not used again soon
	 */
	public MailboxAddress newAddress() {
		listen();
		MailboxAddress polling = this.pollingAddress;
		return ((isListening() || polling == null) ? this.listeningAddress : polling)
			.ofRequest(this.requests.incrementAndGet());
	}

	public boolean isListening() {
		return this.mailbox != null;
	}

	/**
	 * Whether the store signals to this process what it queues at an address.
	 */
	public boolean isListening(@Nullable MailboxAddress queuedAt) {
		return isListening() && queuedAt != null && queuedAt.mailbox().equals(this.listeningAddress);
	}

	/**
	 * Open the mailbox in the background, once.
	 */
	public void listen() {
		if (this.address == null && this.opening.compareAndSet(false, true)) {
			this.threads.scheduleWork(this::open, 0);
		}
	}

	private void open() {
		if (this.closed) {
			return;
		}
		try {
			Mailbox opened = this.store.openMailbox(this.listeningAddress, this::onLockAvailable);
			this.mailbox = opened;
			this.address = (opened != null) ? this.listeningAddress : this.pollingAddress;
		}
		catch (Throwable ex) {
			logger.debug("The mailbox could not be opened: waiting requests poll, and it will be tried again", ex);
			this.address = this.pollingAddress;
			this.threads.scheduleWork(this::open, RETRY_PAUSE.toNanos());
		}
		if (this.closed) {
			close();
		}
	}

	private void onLockAvailable(String message) {
		if (!this.places.onLockAvailable(message)) {
			String storageKey = MailboxAddress.storageKey(message);
			boolean toRequest = storageKey.length() < message.length();
			MailboxAddress queuedAt = toRequest ? new MailboxAddress(message.substring(storageKey.length() + 1))
					: this.listeningAddress;
			leave(storageKey, queuedAt, false);
		}
	}

	/**
	 * Leave the queue of a key in the background, unless a request that has come
	 * meanwhile needs the place.
	 * @param storageKey the storage key
	 * @param queuedAt the address that is queued
	 * @param member whether the place is that of a member
	 */
	public void leave(String storageKey, MailboxAddress queuedAt, boolean member) {
		this.threads.scheduleWork(() -> leave(storageKey, queuedAt, member, FIRST_LEAVE_PAUSE), 0);
	}

	/**
	 * Leave a queue that this process may have joined with a call that had no answer.
	 * While the store fails, few such calls are made at a time.
	 * @param storageKey the storage key
	 * @param queuedAt the address that may be queued
	 */
	public void leaveLater(String storageKey, MailboxAddress queuedAt) {
		leaveLater(storageKey, queuedAt, FIRST_LEAVE_PAUSE);
	}

	private void leaveLater(String storageKey, MailboxAddress queuedAt, Duration pause) {
		if (pause.compareTo(LAST_LEAVE_PAUSE) <= 0 && this.repeatedLeaves.tryAcquire()) {
			this.threads.scheduleWork(() -> {
				this.repeatedLeaves.release();
				leave(storageKey, queuedAt, false, pause.multipliedBy(2));
			}, pause.toNanos());
		}
	}

	/**
	 * A place of a member that is left behind delays the others only as long as the lock
	 * is reserved for it, one of an exclusive request keeps new members waiting.
	 */
	private void leave(String storageKey, MailboxAddress queuedAt, boolean member, Duration repeatedAfter) {
		if (queuedAt.equals(this.address) && this.places.keep(storageKey, queuedAt, member)) {
			return;
		}
		try {
			this.store.leave(storageKey, queuedAt);
		}
		catch (RuntimeException ex) {
			logger.debug("Could not leave the queue of lock '" + storageKey + "', which is passed over in "
					+ queuedAt.reservationTime().toMillis() + " ms", ex);
			if (!member) {
				leaveLater(storageKey, queuedAt, repeatedAfter);
			}
		}
		// a request that came meanwhile has lost its place, or was refused because of it
		this.places.onLockAvailable(storageKey);
	}

	@Override
	public void close() {
		this.closed = true;
		Mailbox opened = this.mailbox;
		if (opened != null) {
			this.mailbox = null;
			opened.close();
		}
	}

}
