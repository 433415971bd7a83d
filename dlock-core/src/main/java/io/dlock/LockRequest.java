package io.dlock;

import java.time.Duration;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * What to lock and how. Use {@link #of} or {@link #builder}: components may be added to
 * this record in later versions.
 *
 * @param key the key to lock, not blank, up to {@value #MAX_KEY_LENGTH} characters. Keys
 * are compared exactly: case, accents and trailing spaces count
 * @param lease how long the lock is held without renewal, or {@code null} for the default
 * of the registry
 * @param waitTime how long to wait for the lock: zero tries once, {@link #FOREVER} waits
 * until it is free, {@code null} is the default of the registry
 * @param renew whether the lease is renewed until the lock is released
 * @param reentrant whether a thread that already holds the key gets a nested handle; if
 * not, it waits for itself and finds the lock busy
 * @param reason why the lock is taken, shown to operators, or {@code null}
 * @param name what the lock is called in {@linkplain LockEvent events} and metrics, one
 * of few, or {@code null}. It is no part of the key
 * @param minHold how long the lock stays taken at the least, counted from when it was
 * acquired, even if it is released before; {@code null} or zero to free it with its
 * release. For what runs on a schedule and must not run twice although it is done quickly
 * @param maxHold how long the lock is held at the most, counted from when it was
 * acquired: after that it is lost, and not renewed any more. {@code null} for the default
 * of the registry. At least as long as the lease and {@code minHold}
 * @param failOpen whether the caller does its work without the lock if the store fails.
 * Changes nothing for the registry, which throws {@link LockStoreException} in any case:
 * it is what {@linkplain LockEvent.StoreFailed#failOpen() listeners} are told
 * @since 0.1
 */
public record LockRequest(String key, @Nullable Duration lease, @Nullable Duration waitTime, boolean renew,
		boolean reentrant, @Nullable String reason, @Nullable String name, @Nullable Duration minHold,
		@Nullable Duration maxHold, boolean failOpen) {

	private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cntrl}\\u0085\\u2028\\u2029]");

	/**
	 * The length of the longest key.
	 */
	public static final int MAX_KEY_LENGTH = 65_536;

	/**
	 * The shortest lease. Part of a lease is the margin for clocks that differ, so that a
	 * shorter one would be over before the answer of the store arrives.
	 */
	public static final Duration MIN_LEASE = Duration.ofMillis(10);

	/**
	 * The longest lease: what is held longer is not a lock but a state, and belongs in a
	 * table of yours.
	 */
	public static final Duration MAX_LEASE = Duration.ofDays(365);

	/**
	 * A wait time without an end.
	 */
	public static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

	public LockRequest {
		checkKey(key);
		if (lease != null) {
			checkLease(() -> "'lease' of lock '" + abbreviate(key) + "'", lease);
		}
		if (waitTime != null && waitTime.isNegative()) {
			throw new IllegalArgumentException(
					"'waitTime' of lock '%s' must not be negative but is %s".formatted(abbreviate(key), waitTime));
		}
		if (name != null && name.isBlank()) {
			throw new IllegalArgumentException("'name' of lock '%s' must not be blank".formatted(abbreviate(key)));
		}
		if (minHold != null && !minHold.isZero()) {
			checkDuration(() -> "'minHold' of lock '" + abbreviate(key) + "'", minHold);
		}
		if (maxHold != null) {
			checkDuration(() -> "'maxHold' of lock '" + abbreviate(key) + "'", maxHold);
		}
		checkLimits(key, lease, minHold, maxHold);
	}

	/**
	 * A request with the defaults of the registry.
	 * @param key the key to lock
	 * @return the request
	 */
	public static LockRequest of(String key) {
		return new LockRequest(key, null, null, true, true, null, null, null, null, false);
	}

	/**
	 * Start a request.
	 * @param key the key to lock
	 * @return a builder with the defaults of the registry
	 */
	public static Builder builder(String key) {
		return new Builder(key);
	}

	/**
	 * Start a request from this one.
	 * @return a builder with the values of this request
	 */
	public Builder toBuilder() {
		Builder builder = new Builder(this.key);
		builder.lease = this.lease;
		builder.waitTime = this.waitTime;
		builder.renew = this.renew;
		builder.reentrant = this.reentrant;
		builder.reason = this.reason;
		builder.name = this.name;
		builder.minHold = this.minHold;
		builder.maxHold = this.maxHold;
		builder.failOpen = this.failOpen;
		return builder;
	}

	/**
	 * Check that a lock can be held that long.
	 * @param what what is checked, for the message: each call of a locked method comes
	 * here
	 * @param lease the duration
	 */
	static void checkLease(Supplier<String> what, Duration lease) {
		checkDuration(what, lease);
		if (lease.compareTo(MIN_LEASE) < 0) {
			throw new IllegalArgumentException(
					"%s must be at least %d ms but is %s".formatted(what.get(), MIN_LEASE.toMillis(), lease));
		}
	}

	private static void checkDuration(Supplier<String> what, Duration lease) {
		if (lease.isNegative() || lease.isZero()) {
			throw new IllegalArgumentException("%s must be positive but is %s".formatted(what.get(), lease));
		}
		if (lease.compareTo(MAX_LEASE) > 0) {
			throw new IllegalArgumentException(
					"%s must not be longer than %s but is %s".formatted(what.get(), MAX_LEASE, lease));
		}
	}

	/**
	 * Check that what limits a hold fits together.
	 * @param key the key
	 * @param lease the lease, or {@code null} if not known
	 * @param minHold the shortest time, or {@code null}
	 * @param maxHold the longest time, or {@code null}
	 */
	static void checkLimits(String key, @Nullable Duration lease, @Nullable Duration minHold,
			@Nullable Duration maxHold) {
		if (maxHold == null) {
			return;
		}
		if (minHold != null && minHold.compareTo(maxHold) > 0) {
			throw new IllegalArgumentException(
					"'minHold' of lock '%s' is %d ms, longer than its maxHold of %d ms. Use a shorter minHold or a longer maxHold"
						.formatted(abbreviate(key), minHold.toMillis(), maxHold.toMillis()));
		}
		if (lease != null && lease.compareTo(maxHold) > 0) {
			throw new IllegalArgumentException(
					"The lease of lock '%s' is %d ms, longer than its maxHold of %d ms. Use a shorter lease or a longer maxHold"
						.formatted(abbreviate(key), lease.toMillis(), maxHold.toMillis()));
		}
	}

	/**
	 * Shorten a key for a message, and see that it does not end the line: a key may be
	 * what somebody has typed.
	 * @param key the key
	 * @return the key, or its first 200 characters and its length, with question marks
	 * for what is no character to print
	 */
	static String abbreviate(String key) {
		String shortened = (key.length() <= 200) ? key : key.substring(0, 200) + "… (" + key.length() + " characters)";
		return printable(shortened);
	}

	/**
	 * Replace the characters of a text that would end the line or cannot be printed.
	 * @param text the text
	 * @return the text, with question marks for unprintable characters
	 */
	static String printable(String text) {
		return UNPRINTABLE.matcher(text).replaceAll("?");
	}

	/**
	 * A text for a log, on one line even if the key or the reason contains line breaks.
	 */
	@Override
	public String toString() {
		return printable("LockRequest[key=" + abbreviate(this.key) + ", lease=" + this.lease + ", waitTime="
				+ this.waitTime + ", renew=" + this.renew + ", reentrant=" + this.reentrant + ", reason=" + this.reason
				+ ", name=" + this.name + ", minHold=" + this.minHold + ", maxHold=" + this.maxHold + ", failOpen="
				+ this.failOpen + "]");
	}

	@SuppressWarnings("NullAway") // for callers that are not null-checked
	private static void checkKey(String key) {
		if (key == null) {
			throw new IllegalArgumentException("'key' must not be null: a null key would be one lock for everybody");
		}
		if (key.isBlank()) {
			throw new IllegalArgumentException("'key' must not be blank: a blank key would be one lock for everybody");
		}
		if (key.length() > MAX_KEY_LENGTH) {
			throw new IllegalArgumentException("'key' must not be longer than %d characters but has %d: '%s'"
				.formatted(MAX_KEY_LENGTH, key.length(), abbreviate(key)));
		}
	}

	/**
	 * Builds a {@link LockRequest}.
	 */
	public static final class Builder {

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

		private Builder(String key) {
			this.key = key;
		}

		/**
		 * Set how long the lock is held without renewal.
		 * @param lease a positive duration, or {@code null} for the registry's default
		 * @return this builder
		 */
		public Builder lease(@Nullable Duration lease) {
			this.lease = lease;
			return this;
		}

		/**
		 * Set how long to wait for the lock.
		 * @param waitTime zero to try once, {@link LockRequest#FOREVER} to wait without
		 * an end, {@code null} for the registry's default
		 * @return this builder
		 */
		public Builder waitTime(@Nullable Duration waitTime) {
			this.waitTime = waitTime;
			return this;
		}

		/**
		 * Set whether the lease is renewed until the lock is released.
		 * @param renew {@code false} to let the lease run out
		 * @return this builder
		 */
		public Builder renew(boolean renew) {
			this.renew = renew;
			return this;
		}

		/**
		 * Set whether a thread that holds the key may acquire it again.
		 * @param reentrant {@code false} to exclude the holding thread as well
		 * @return this builder
		 */
		public Builder reentrant(boolean reentrant) {
			this.reentrant = reentrant;
			return this;
		}

		/**
		 * Set why the lock is taken.
		 * @param reason a short text for operators, or {@code null}
		 * @return this builder
		 */
		public Builder reason(@Nullable String reason) {
			this.reason = reason;
			return this;
		}

		/**
		 * Set what the lock is called in events and metrics.
		 * @param name one of few names, such as that of the use case, or {@code null}
		 * @return this builder
		 */
		public Builder name(@Nullable String name) {
			this.name = name;
			return this;
		}

		/**
		 * Set how long the lock stays taken at the least. Its release then returns at
		 * once, and the handle is released, but the store keeps the lock for the rest of
		 * the time: neither this process nor another gets it. Should the process end
		 * before, or the registry be closed, the lock ends with its lease, but not before
		 * this time if the store could be told of it at the release.
		 * @param minHold a duration, at most a year, or {@code null}
		 * @return this builder
		 */
		public Builder minHold(@Nullable Duration minHold) {
			this.minHold = minHold;
			return this;
		}

		/**
		 * Set how long the lock is held at the most. Who still holds it then has lost it,
		 * and is told as of any loss. It becomes free for others when the holder releases
		 * its handle, or at most one lease later: that is the time in which the holder
		 * can stop what it is doing.
		 * @param maxHold a duration not shorter than the lease, at most a year, or
		 * {@code null} for the registry's default
		 * @return this builder
		 */
		public Builder maxHold(@Nullable Duration maxHold) {
			this.maxHold = maxHold;
			return this;
		}

		/**
		 * Set whether the caller does its work without the lock if the store fails, so
		 * that listeners and metrics can tell. The registry throws
		 * {@link LockStoreException} in any case.
		 * @param failOpen {@code true} if the caller goes on after such an exception
		 * @return this builder
		 */
		public Builder failOpen(boolean failOpen) {
			this.failOpen = failOpen;
			return this;
		}

		/**
		 * Build the request.
		 * @return the request
		 * @throws IllegalArgumentException if a value is out of range
		 */
		public LockRequest build() {
			return new LockRequest(this.key, this.lease, this.waitTime, this.renew, this.reentrant, this.reason,
					this.name, this.minHold, this.maxHold, this.failOpen);
		}

	}

}
