package io.dlock;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Another caller holds the lock, or others hold all permits, in this process or according
 * to the store, and did not release it within the wait time. This is not a failure: try
 * again later.
 *
 * @since 0.1
 */
public final class LockBusyException extends LockException {

	private final Duration waited;

	private final transient @Nullable LockInfo holder;

	/**
	 * Create the exception.
	 * @param key the key
	 * @param waited how long the caller waited
	 * @param holder the holder, or {@code null} if unknown
	 */
	public LockBusyException(String key, Duration waited, @Nullable LockInfo holder) {
		this(key, "Lock '%s' is busy".formatted(LockRequest.abbreviate(key)), ": held by ", waited, holder);
	}

	/**
	 * Create the exception for a permit.
	 * @param key the key, which begins with {@value PermitRegistry#PERMIT_PREFIX}
	 * @param limit how many permits may be held at once
	 * @param waited how long the caller waited
	 * @param holder the holder of one of the permits, or {@code null} if unknown
	 */
	public LockBusyException(String key, int limit, Duration waited, @Nullable LockInfo holder) {
		this(key, "The limit of %d for '%s' is reached".formatted(limit, LockRequest.abbreviate(withoutPrefix(key))),
				"; one permit is held by ", waited, holder);
	}

	private LockBusyException(String key, String problem, String held, Duration waited, @Nullable LockInfo holder) {
		super(key, "%s%s; waited %d ms. Try again later or raise the wait time".formatted(problem,
				(holder != null) ? held + described(holder) : "", waited.toMillis()), null);
		this.waited = waited;
		this.holder = holder;
	}

	/**
	 * How long the caller waited.
	 * @return the time from the request to this exception
	 */
	public Duration waited() {
		return this.waited;
	}

	/**
	 * The holder at the time of the last refusal, for people: it costs no further call to
	 * the store. A holder in this process is shown with the times of this machine, any
	 * other with those of the store.
	 * @return the holder; empty if the store does not tell it, the lock was released at
	 * that moment or is only kept for its {@linkplain DistributedLocked#minHold()
	 * minHold}, and after deserialization
	 */
	public Optional<LockInfo> holder() {
		return Optional.ofNullable(this.holder);
	}

	private static String withoutPrefix(String key) {
		return key.startsWith(PermitRegistry.PERMIT_PREFIX) ? key.substring(PermitRegistry.PERMIT_PREFIX.length())
				: key;
	}

	private static String described(LockInfo holder) {
		return holder.holder() + ((holder.reason() != null) ? " (" + holder.reason() + ")" : "") + " since "
				+ holder.since().truncatedTo(ChronoUnit.MILLIS);
	}

}
