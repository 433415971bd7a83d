package io.dlock;

import java.time.Duration;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * An immutable request for a lock: the key and how to lock it.
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
	 * The shortest lease. Part of a lease is the margin for clocks that differ: a shorter
	 * lease would be over before the answer of the store arrives.
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

	private final Options options;

	private LockRequest(String key, Options options) {
		checkKey(key);
		this.key = key;
		this.options = options;
	}

	static LockRequest create(String key, Options options) {
		LockRequest request = new LockRequest(key, options);
		request.validate();
		return request;
	}

	private void validate() {
		Duration lease = lease();
		if (lease != null) {
			checkLease(() -> "'lease' of lock '" + abbreviate(this.key) + "'", lease);
		}
		Duration waitTime = waitTime();
		if (waitTime != null && waitTime.isNegative()) {
			throw new IllegalArgumentException(
					"'waitTime' of lock '%s' must not be negative but is %s".formatted(abbreviate(this.key), waitTime));
		}
		String name = name();
		if (name != null && name.isBlank()) {
			throw new IllegalArgumentException("'name' of lock '%s' must not be blank".formatted(abbreviate(this.key)));
		}
		Duration minHold = minHold();
		if (minHold != null && !minHold.isZero()) {
			checkDuration(() -> "'minHold' of lock '" + abbreviate(this.key) + "'", minHold);
		}
		if (minHold != null && this.options.shared) {
			throw new IllegalArgumentException(
					"'minHold' of lock '%s' keeps other holders out, but a shared lock lets them in. Use LockMode.EXCLUSIVE or no minHold"
						.formatted(abbreviate(this.key)));
		}
		Duration maxHold = maxHold();
		if (maxHold != null) {
			checkDuration(() -> "'maxHold' of lock '" + abbreviate(this.key) + "'", maxHold);
		}
		checkLimits(this.key, lease, minHold, maxHold);
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
	public static LockRequestBuilder builder(String key) {
		return new LockRequestBuilder(key);
	}

	/**
	 * Create a request for another key that is otherwise like this one.
	 * @param other the key to lock
	 * @return the request
	 * @throws IllegalArgumentException if it cannot be a key
	 */
	public LockRequest withKey(String other) {
		return new LockRequest(other, this.options);
	}

	/**
	 * Create a request for the same key in another mode. A {@code minHold}, which a
	 * shared lock cannot have, is left out of a shared request.
	 * @param mode the mode
	 * @return the request
	 */
	public LockRequest withMode(LockMode mode) {
		return (mode() == mode) ? this : create(this.key, this.options.shared(mode == LockMode.SHARED));
	}

	/**
	 * {@return the key to lock}
	 */
	public String key() {
		return this.key;
	}

	/**
	 * {@return whether other shared holders are let in}
	 */
	public LockMode mode() {
		return this.options.shared ? LockMode.SHARED : LockMode.EXCLUSIVE;
	}

	/**
	 * {@return how long the lock is held without renewal, or {@code null} for the default
	 * of the registry}
	 */
	public @Nullable Duration lease() {
		return this.options.lease;
	}

	/**
	 * {@return how long to wait for the lock, or {@code null} for the default of the
	 * registry}
	 */
	public @Nullable Duration waitTime() {
		return this.options.waitTime;
	}

	/**
	 * {@return whether the lease is renewed until the lock is released}
	 */
	public boolean renew() {
		return this.options.renew;
	}

	/**
	 * {@return whether a holder of the key gets a nested handle}
	 */
	public boolean reentrant() {
		return this.options.reentrant;
	}

	/**
	 * {@return whether the store grants the lock in the order of the requests, or
	 * {@code null} for the default of the registry}
	 */
	public @Nullable Boolean fair() {
		return this.options.fair;
	}

	/**
	 * {@return the reason that operators see, or {@code null}}
	 */
	public @Nullable String reason() {
		return this.options.reason;
	}

	/**
	 * {@return the name in {@linkplain LockEvent events} and metrics, or {@code null}}
	 */
	public @Nullable String name() {
		return this.options.name;
	}

	/**
	 * {@return the shortest time for which the lock stays taken, or {@code null}}
	 */
	public @Nullable Duration minHold() {
		return this.options.minHold;
	}

	/**
	 * {@return the longest time for which the lock is held, or {@code null} for the
	 * default of the registry}
	 */
	public @Nullable Duration maxHold() {
		return this.options.maxHold;
	}

	/**
	 * {@return whether the caller works without the lock if the store fails}
	 */
	public boolean failOpen() {
		return this.options.failOpen;
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
		return other instanceof LockRequest request && this.key.equals(request.key)
				&& this.options.equals(request.options);
	}

	@Override
	public int hashCode() {
		return 31 * this.key.hashCode() + this.options.hashCode();
	}

	/**
	 * A text for a log, on one line even if the key or the reason contains line breaks.
	 */
	@Override
	public String toString() {
		return printable("LockRequest[key=" + abbreviate(this.key) + ", mode=" + mode() + ", lease=" + lease()
				+ ", waitTime=" + waitTime() + ", renew=" + renew() + ", reentrant=" + reentrant() + ", reason="
				+ reason() + ", name=" + name() + ", minHold=" + minHold() + ", maxHold=" + maxHold() + ", failOpen="
				+ failOpen() + ", fair=" + fair() + "]");
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
	 * How to lock a key, as the accessors of the request say.
	 */
	record Options(@Nullable Duration lease, @Nullable Duration waitTime, boolean renew, boolean reentrant,
			@Nullable String reason, @Nullable String name, @Nullable Duration minHold, @Nullable Duration maxHold,
			boolean failOpen, boolean shared, @Nullable Boolean fair) {

		private Options shared(boolean other) {
			return new Options(this.lease, this.waitTime, this.renew, this.reentrant, this.reason, this.name,
					other ? null : this.minHold, this.maxHold, this.failOpen, other, this.fair);
		}

	}

}
