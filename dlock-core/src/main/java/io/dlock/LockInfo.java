package io.dlock;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Who holds a lock, as a person wants to read it: the one the store granted it to.
 * Threads of one instance that wait for the same key pass it to each other without
 * telling the store, within the hand-off time of their registry: then this is the first
 * of them, the current one has been holding it for a little less, and has a slightly
 * higher token.
 *
 * @param key the key as it is stored: printable, long keys shortened and hashed
 * @param holder the instance and thread that took the lock, which no longer has it if the
 * lock is kept
 * @param reason why, or {@code null}
 * @param since when it was taken, by the store's clock
 * @param until when the lease ends unless renewed, by the store's clock
 * @param token the fencing token
 * @param age how long ago it was taken, by the store's clock
 * @param kept whether its holder has released it, and it is only kept until its end: for
 * the rest of its {@linkplain DistributedLocked#minHold() minHold}
 * @since 0.1
 */
public record LockInfo(String key, String holder, @Nullable String reason, Instant since, Instant until, long token,
		Duration age, boolean kept) {

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
