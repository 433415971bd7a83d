package io.dlock;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * The holder of a lock according to the store, for people. Threads of one instance that
 * wait for the same key pass it to each other without a call to the store, within the
 * hand-off time of their registry. This is then the first of them: the current holder has
 * held the lock for a little less time and has a slightly higher token.
 *
 * @param key the key as it is stored: printable, long keys shortened and hashed
 * @param holder the instance and thread that acquired the lock, and have released it if
 * it is kept
 * @param reason the reason of the request, or {@code null}
 * @param since when the lock was acquired, by the store's clock
 * @param until when the lease ends unless renewed, by the store's clock
 * @param token the fencing token
 * @param age the time since the lock was acquired, by the store's clock
 * @param kept whether the lock has been released and is only kept for the rest of its
 * {@linkplain DistributedLocked#minHold() minHold}
 * @param shared whether there may be other holders at the same time: the lock is
 * {@linkplain LockMode#SHARED shared}, or a permit of a limit
 * @since 0.1
 */
public record LockInfo(String key, String holder, @Nullable String reason, Instant since, Instant until, long token,
		Duration age, boolean kept, boolean shared) {

	/** Ends the name of the instance in that of a holder. */
	static final String INSTANCE_END = " [";

	/**
	 * The instance that acquired the lock.
	 * @return the name of the holder without its thread
	 */
	public String instance() {
		int end = this.holder.indexOf(INSTANCE_END);
		return (end >= 0) ? this.holder.substring(0, end) : this.holder;
	}

	/**
	 * A text for a log, on one line even if the key or the reason contains line breaks.
	 */
	@Override
	public String toString() {
		return LockRequest.printable("LockInfo[key=" + LockRequest.abbreviate(this.key)
				+ (this.kept ? ", kept after its release by " : ", holder=") + this.holder + ", reason=" + this.reason
				+ ", since=" + this.since + ", until=" + this.until + ", token=" + this.token + "]");
	}

}
