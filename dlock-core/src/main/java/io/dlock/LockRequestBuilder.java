package io.dlock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Builds a {@link LockRequest}.
 *
 * @since 0.1
 */
public final class LockRequestBuilder {

	private final String key;

	private @Nullable Duration lease;

	private @Nullable Duration waitTime;

	private boolean renew = true;

	private boolean reentrant = true;

	private @Nullable String reason;

	private @Nullable String name;

	private @Nullable Duration minHold;

	private @Nullable Duration maxHold;

	private boolean failOpen;

	private boolean shared;

	private @Nullable Boolean fair;

	LockRequestBuilder(String key) {
		this.key = key;
	}

	/**
	 * Set whether the lock excludes all others or only exclusive ones.
	 * @param mode the mode, {@link LockMode#EXCLUSIVE} by default
	 * @return this builder
	 * @see LockRegistry#readWriteLock(LockRequest)
	 */
	public LockRequestBuilder mode(LockMode mode) {
		this.shared = (mode == LockMode.SHARED);
		return this;
	}

	/**
	 * Set how long the lock is held without renewal.
	 * @param lease a positive duration, or {@code null} for the registry's default
	 * @return this builder
	 */
	public LockRequestBuilder lease(@Nullable Duration lease) {
		this.lease = lease;
		return this;
	}

	/**
	 * Set how long to wait for the lock.
	 * @param waitTime zero to try once, after a release of this process that is under
	 * way, for which the request waits a second at most; {@link LockRequest#FOREVER} to
	 * wait until it is free; {@code null} for the registry's default
	 * @return this builder
	 */
	public LockRequestBuilder waitTime(@Nullable Duration waitTime) {
		this.waitTime = waitTime;
		return this;
	}

	/**
	 * Set whether the lease is renewed until the lock is released.
	 * @param renew {@code false} to let the lease run out
	 * @return this builder
	 */
	public LockRequestBuilder renew(boolean renew) {
		this.renew = renew;
		return this;
	}

	/**
	 * Set whether a thread that holds the key gets a nested handle.
	 * @param reentrant {@code false} to exclude the holding thread as well: it finds its
	 * own lock busy
	 * @return this builder
	 */
	public LockRequestBuilder reentrant(boolean reentrant) {
		this.reentrant = reentrant;
		return this;
	}

	/**
	 * Set whether the store grants the lock in the order in which it saw the first
	 * attempt of each request, across all threads and processes. A fair request has a
	 * place of its own in the queue of the store: no lock is passed on within the
	 * process, and each hand-off costs two round trips and a message. Shared requests and
	 * permits ignore it.
	 * @param fair whether it is fair, or {@code null} for the registry's default
	 * @return this builder
	 */
	public LockRequestBuilder fair(@Nullable Boolean fair) {
		this.fair = fair;
		return this;
	}

	/**
	 * Set the reason for the lock.
	 * @param reason a short text for operators, or {@code null}
	 * @return this builder
	 */
	public LockRequestBuilder reason(@Nullable String reason) {
		this.reason = reason;
		return this;
	}

	/**
	 * Set the name of the lock in {@linkplain LockEvent events} and metrics. It is not
	 * part of the key.
	 * @param name one of few names, such as that of the use case, or {@code null}
	 * @return this builder
	 */
	public LockRequestBuilder name(@Nullable String name) {
		this.name = name;
		return this;
	}

	/**
	 * Set the shortest time for which the lock stays taken, counted from its acquisition,
	 * for scheduled work that must not run twice. An earlier release returns at once and
	 * ends the handle, but the store keeps the lock for the rest of the time: neither
	 * this process nor another gets it. If the process dies before the release, the lock
	 * ends with its lease. A registry that is closed keeps it for the rest of the time. A
	 * shared lock has no {@code minHold}: it lets others in.
	 * @param minHold a duration, at most a year, or {@code null}
	 * @return this builder
	 */
	public LockRequestBuilder minHold(@Nullable Duration minHold) {
		this.minHold = minHold;
		return this;
	}

	/**
	 * Set the longest time for which the lock is held, counted from its acquisition.
	 * After that the lock is lost and no longer renewed, and the holder learns of this as
	 * of any loss. The lock becomes free for others when the holder releases its handle,
	 * or at most one lease later: that is the time in which the holder can stop its work.
	 * @param maxHold a duration not shorter than the lease, at most a year, or
	 * {@code null} for the registry's default
	 * @return this builder
	 */
	public LockRequestBuilder maxHold(@Nullable Duration maxHold) {
		this.maxHold = maxHold;
		return this;
	}

	/**
	 * Set whether the caller works without the lock if the store fails. The registry
	 * throws {@link LockStoreException} in any case; the value is for
	 * {@linkplain LockEvent.StoreFailed#failOpen() listeners} and metrics.
	 * @param failOpen {@code true} if the caller goes on after such an exception
	 * @return this builder
	 */
	public LockRequestBuilder failOpen(boolean failOpen) {
		this.failOpen = failOpen;
		return this;
	}

	/**
	 * Build the request.
	 * @return the request
	 * @throws IllegalArgumentException if a value is out of range
	 */
	public LockRequest build() {
		return LockRequest.create(this.key,
				new LockRequest.Options(this.lease, this.waitTime, this.renew, this.reentrant, this.reason, this.name,
						this.minHold, this.maxHold, this.failOpen, this.shared, this.fair));
	}

}
