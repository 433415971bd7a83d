package io.dlock;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A request for a lock, immutable: the key and how to lock it.
 *
 * <pre class="code">
 * LockRequest request = LockRequest.builder("order-42").waitTime(Duration.ofSeconds(3)).build();
 * </pre>
 *
 * @since 0.1
 */
public final class LockRequest {

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
	 * The longest lease. Something that is held longer is a state and belongs in a table
	 * of the application.
	 */
	public static final Duration MAX_LEASE = Duration.ofDays(365);

	/**
	 * An unlimited wait time.
	 */
	public static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

	private final String key;

	private final @Nullable Duration lease;

	private final @Nullable Duration waitTime;

	private final boolean renew;

	private final boolean reentrant;

	private final @Nullable String reason;

	private final @Nullable String name;

	private final @Nullable Duration minHold;

	private final @Nullable Duration maxHold;

	private final boolean failOpen;

	private LockRequest(Builder builder) {
		this.key = builder.key;
		this.lease = builder.lease;
		this.waitTime = builder.waitTime;
		this.renew = builder.renew;
		this.reentrant = builder.reentrant;
		this.reason = builder.reason;
		this.name = builder.name;
		this.minHold = builder.minHold;
		this.maxHold = builder.maxHold;
		this.failOpen = builder.failOpen;
		validate();
	}

	private void validate() {
		checkKey(this.key);
		if (this.lease != null) {
			checkLease(() -> "'lease' of lock '" + abbreviate(this.key) + "'", this.lease);
		}
		if (this.waitTime != null && this.waitTime.isNegative()) {
			throw new IllegalArgumentException("'waitTime' of lock '%s' must not be negative but is %s"
				.formatted(abbreviate(this.key), this.waitTime));
		}
		if (this.name != null && this.name.isBlank()) {
			throw new IllegalArgumentException("'name' of lock '%s' must not be blank".formatted(abbreviate(this.key)));
		}
		if (this.minHold != null && !this.minHold.isZero()) {
			checkDuration(() -> "'minHold' of lock '" + abbreviate(this.key) + "'", this.minHold);
		}
		if (this.maxHold != null) {
			checkDuration(() -> "'maxHold' of lock '" + abbreviate(this.key) + "'", this.maxHold);
		}
		checkLimits(this.key, this.lease, this.minHold, this.maxHold);
	}

	/**
	 * A request with the defaults of the registry.
	 * @param key the key to lock
	 * @return the request
	 */
	public static LockRequest of(String key) {
		return builder(key).build();
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
	 * The key to lock.
	 * @return the value
	 */
	public String key() {
		return this.key;
	}

	/**
	 * How long the lock is held without renewal, or {@code null} for the default of the
	 * registry.
	 * @return the value
	 */
	public @Nullable Duration lease() {
		return this.lease;
	}

	/**
	 * How long to wait for the lock, or {@code null} for the default of the registry.
	 * @return the value
	 */
	public @Nullable Duration waitTime() {
		return this.waitTime;
	}

	/**
	 * Whether the lease is renewed until the lock is released.
	 * @return the value
	 */
	public boolean renew() {
		return this.renew;
	}

	/**
	 * Whether a holder of the key gets a nested handle.
	 * @return the value
	 */
	public boolean reentrant() {
		return this.reentrant;
	}

	/**
	 * The reason that operators see, or {@code null}.
	 * @return the value
	 */
	public @Nullable String reason() {
		return this.reason;
	}

	/**
	 * The name in {@linkplain LockEvent events} and metrics, or {@code null}.
	 * @return the value
	 */
	public @Nullable String name() {
		return this.name;
	}

	/**
	 * The shortest time for which the lock stays taken, or {@code null}.
	 * @return the value
	 */
	public @Nullable Duration minHold() {
		return this.minHold;
	}

	/**
	 * The longest time for which the lock is held, or {@code null} for the default of the
	 * registry.
	 * @return the value
	 */
	public @Nullable Duration maxHold() {
		return this.maxHold;
	}

	/**
	 * Whether the caller works without the lock if the store fails.
	 * @return the value
	 */
	public boolean failOpen() {
		return this.failOpen;
	}

	/**
	 * Check that a duration can be a lease.
	 * @param what the subject of the message, created only if the check fails
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
	 * Check that the limits of a hold fit together.
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
	 * Shorten a key for a message of one line: a key may be user input.
	 * @param key the key
	 * @return the key, or its first 200 characters and its length, with question marks
	 * for unprintable characters
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

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof LockRequest request && values().equals(request.values());
	}

	@Override
	public int hashCode() {
		return values().hashCode();
	}

	private List<@Nullable Object> values() {
		return Arrays.asList(this.key, this.lease, this.waitTime, this.renew, this.reentrant, this.reason, this.name,
				this.minHold, this.maxHold, this.failOpen);
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
			throw new IllegalArgumentException("'key' must not be null: a null key would be one lock for all callers");
		}
		if (key.isBlank()) {
			throw new IllegalArgumentException(
					"'key' must not be blank: a blank key would be one lock for all callers");
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
		 * @param waitTime zero to try once, {@link LockRequest#FOREVER} to wait until it
		 * is free, {@code null} for the registry's default
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
		 * Set whether a thread that holds the key gets a nested handle.
		 * @param reentrant {@code false} to exclude the holding thread as well: it finds
		 * its own lock busy
		 * @return this builder
		 */
		public Builder reentrant(boolean reentrant) {
			this.reentrant = reentrant;
			return this;
		}

		/**
		 * Set the reason for the lock.
		 * @param reason a short text for operators, or {@code null}
		 * @return this builder
		 */
		public Builder reason(@Nullable String reason) {
			this.reason = reason;
			return this;
		}

		/**
		 * Set the name of the lock in {@linkplain LockEvent events} and metrics. It is no
		 * part of the key.
		 * @param name one of few names, such as that of the use case, or {@code null}
		 * @return this builder
		 */
		public Builder name(@Nullable String name) {
			this.name = name;
			return this;
		}

		/**
		 * Set the shortest time for which the lock stays taken, counted from its
		 * acquisition, for scheduled work that must not run twice. An earlier release
		 * returns at once and ends the handle, but the store keeps the lock for the rest
		 * of the time: neither this process nor another gets it. If the process ends
		 * before the release or the registry is closed, the lock ends with its lease.
		 * @param minHold a duration, at most a year, or {@code null}
		 * @return this builder
		 */
		public Builder minHold(@Nullable Duration minHold) {
			this.minHold = minHold;
			return this;
		}

		/**
		 * Set the longest time for which the lock is held, counted from its acquisition.
		 * After that the lock is lost and not renewed any more, and the holder is told as
		 * of any loss. The lock becomes free for others when the holder releases its
		 * handle, or at most one lease later: that is the time in which the holder can
		 * stop its work.
		 * @param maxHold a duration not shorter than the lease, at most a year, or
		 * {@code null} for the registry's default
		 * @return this builder
		 */
		public Builder maxHold(@Nullable Duration maxHold) {
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
			return new LockRequest(this);
		}

	}

}
