package io.dlock;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The defaults and limits of a registry, immutable.
 *
 * <pre class="code">
 * LockSettings settings = LockSettings.builder().lease(Duration.ofMinutes(1)).build();
 * </pre>
 *
 * @since 0.1
 */
public final class LockSettings {

	/**
	 * A lease must outlast this many command timeouts, so that a renewal has time to fail
	 * and be repeated.
	 */
	public static final int MIN_COMMANDS_PER_LEASE = 4;

	/**
	 * The longest name of an instance. Stores keep 255 characters of a holder, which ends
	 * with the name of its thread.
	 */
	public static final int MAX_INSTANCE_LENGTH = 200;

	private static final Duration MAX_DEFAULT_COMMAND_TIMEOUT = Duration.ofSeconds(1);

	private final Duration lease;

	private final Duration waitTime;

	private final Duration commandTimeout;

	private final Duration maxPollInterval;

	private final Duration shutdownTimeout;

	private final Duration handOffMaxDuration;

	private final ReleaseMode releaseMode;

	private final String instance;

	private final @Nullable Duration maxHold;

	private final boolean fair;

	private final @Nullable Duration longestLease;

	LockSettings(LockSettingsBuilder builder) {
		this.lease = builder.lease;
		this.waitTime = builder.waitTime;
		this.commandTimeout = (builder.commandTimeout != null) ? builder.commandTimeout
				: commandTimeoutFor(builder.lease);
		this.maxPollInterval = builder.maxPollInterval;
		this.shutdownTimeout = builder.shutdownTimeout;
		this.handOffMaxDuration = builder.handOffMaxDuration;
		this.releaseMode = builder.releaseMode;
		this.instance = builder.instance;
		this.maxHold = builder.maxHold;
		this.fair = builder.fair;
		this.longestLease = builder.longestLease;
		validate();
	}

	private void validate() {
		LockRequest.checkLease(() -> "'lease'", this.lease);
		requireNotNegative("waitTime", this.waitTime);
		requirePositive("commandTimeout", this.commandTimeout);
		requireLimited("commandTimeout", this.commandTimeout);
		requirePositive("maxPollInterval", this.maxPollInterval);
		requireNotNegative("shutdownTimeout", this.shutdownTimeout);
		requireNotNegative("handOffMaxDuration", this.handOffMaxDuration);
		requireLimited("maxPollInterval", this.maxPollInterval);
		requireLimited("shutdownTimeout", this.shutdownTimeout);
		requireLimited("handOffMaxDuration", this.handOffMaxDuration);
		checkInstance();
		requireLongEnough(() -> "'lease'", this.lease, this.commandTimeout);
		requireNotLonger(() -> "'lease'", this.lease);
		if (this.maxHold != null) {
			requireLimited("maxHold", this.maxHold);
			if (this.maxHold.compareTo(this.lease) < 0) {
				throw new IllegalArgumentException("'maxHold' is %d ms, shorter than the default lease of %d ms"
					.formatted(this.maxHold.toMillis(), this.lease.toMillis()));
			}
		}
	}

	/**
	 * The defaults: a lease of 30 s, a wait time of 5 s, a command timeout of 1 s, a poll
	 * at least every 100 ms, 10 s for holders at shutdown, 10 ms of hand-off, releases
	 * that wait for the store, and no {@code maxHold}.
	 * @return the defaults
	 */
	public static LockSettings defaults() {
		return builder().build();
	}

	/**
	 * Start with the {@linkplain #defaults() defaults}.
	 * @return a builder
	 */
	public static LockSettingsBuilder builder() {
		return new LockSettingsBuilder();
	}

	/**
	 * Start with these settings. A command timeout that was derived from the lease is
	 * derived again when the lease changes.
	 * @return a builder with the values of these settings
	 */
	public LockSettingsBuilder toBuilder() {
		LockSettingsBuilder builder = new LockSettingsBuilder();
		builder.lease = this.lease;
		builder.waitTime = this.waitTime;
		builder.maxPollInterval = this.maxPollInterval;
		builder.shutdownTimeout = this.shutdownTimeout;
		builder.handOffMaxDuration = this.handOffMaxDuration;
		builder.releaseMode = this.releaseMode;
		builder.instance = this.instance;
		builder.maxHold = this.maxHold;
		builder.fair = this.fair;
		builder.longestLease = this.longestLease;
		builder.commandTimeout = this.commandTimeout.equals(commandTimeoutFor(this.lease)) ? null : this.commandTimeout;
		return builder;
	}

	/**
	 * The command timeout that suits a lease: a tenth of it, at most one second.
	 * @param lease the lease
	 * @return the command timeout
	 */
	public static Duration commandTimeoutFor(Duration lease) {
		LockRequest.checkLease(() -> "'lease'", lease);
		Duration tenth = lease.dividedBy(10);
		return (tenth.compareTo(MAX_DEFAULT_COMMAND_TIMEOUT) < 0) ? tenth : MAX_DEFAULT_COMMAND_TIMEOUT;
	}

	/**
	 * {@return the lease of a request without one}
	 */
	public Duration lease() {
		return this.lease;
	}

	/**
	 * {@return the wait time of a request without one}
	 */
	public Duration waitTime() {
		return this.waitTime;
	}

	/**
	 * {@return the timeout of one call to the store}
	 */
	public Duration commandTimeout() {
		return this.commandTimeout;
	}

	/**
	 * {@return the longest pause of a waiting process between two attempts}
	 */
	public Duration maxPollInterval() {
		return this.maxPollInterval;
	}

	/**
	 * {@return the time that a closing registry gives to running holders}
	 */
	public Duration shutdownTimeout() {
		return this.shutdownTimeout;
	}

	/**
	 * {@return the time for which threads of this process pass a lock on without asking
	 * the store}
	 */
	public Duration handOffMaxDuration() {
		return this.handOffMaxDuration;
	}

	/**
	 * {@return whether a release waits for the store}
	 */
	public ReleaseMode releaseMode() {
		return this.releaseMode;
	}

	/**
	 * {@return the name of this process that operators see}
	 */
	public String instance() {
		return this.instance;
	}

	/**
	 * {@return the {@code maxHold} of a request without one, or {@code null}}
	 */
	public @Nullable Duration maxHold() {
		return this.maxHold;
	}

	/**
	 * {@return the longest lease that a request may have, or {@code null} if there is no
	 * such limit}
	 */
	public @Nullable Duration longestLease() {
		return this.longestLease;
	}

	/**
	 * The lease of a request.
	 * @param request the request
	 * @return its lease, or the default
	 */
	public Duration leaseOf(LockRequest request) {
		return (request.lease() != null) ? request.lease() : this.lease;
	}

	/**
	 * The wait time of a request.
	 * @param request the request
	 * @return its wait time, or the default
	 */
	public Duration waitTimeOf(LockRequest request) {
		return (request.waitTime() != null) ? request.waitTime() : this.waitTime;
	}

	/**
	 * {@return whether a request without a setting of its own is fair}
	 */
	public boolean fair() {
		return this.fair;
	}

	/**
	 * Whether a request is fair.
	 * @param request the request
	 * @return its own setting, or the default
	 */
	public boolean isFair(LockRequest request) {
		Boolean requested = request.fair();
		return (requested != null) ? requested : this.fair;
	}

	/**
	 * The {@code maxHold} of a request.
	 * @param request the request
	 * @return its {@code maxHold}, or the default, which may be {@code null}
	 */
	public @Nullable Duration maxHoldOf(LockRequest request) {
		return (request.maxHold() != null) ? request.maxHold() : this.maxHold;
	}

	/**
	 * Check that a request fits these settings.
	 * @param request the request
	 * @throws IllegalArgumentException if its lease is renewed and shorter than
	 * {@value #MIN_COMMANDS_PER_LEASE} command timeouts, or longer than the longest
	 * lease, or its lease or {@code minHold} is longer than its {@code maxHold}
	 */
	public void validate(LockRequest request) {
		if (request.lease() != null && request.renew()) {
			requireLongEnough(() -> "The lease of lock '" + LockRequest.abbreviate(request.key()) + "'",
					request.lease(), this.commandTimeout);
		}
		if (request.lease() != null) {
			requireNotLonger(() -> "The lease of lock '" + LockRequest.abbreviate(request.key()) + "'",
					request.lease());
		}
		Duration longest = maxHoldOf(request);
		if (longest != null) {
			LockRequest.checkLimits(request.key(), leaseOf(request), request.minHold(), longest);
		}
	}

	private void requireNotLonger(Supplier<String> what, Duration value) {
		if (this.longestLease != null && value.compareTo(this.longestLease) > 0) {
			throw new IllegalArgumentException(
					"%s is %d ms, longer than the longest lease of %d ms, for which a store that lost its data grants no lock. Use a shorter lease, or raise the longest one on all instances"
						.formatted(what.get(), value.toMillis(), this.longestLease.toMillis()));
		}
	}

	/**
	 * The name of a holder begins with it, and is searched for it.
	 */
	private void checkInstance() {
		if (this.instance.isBlank()) {
			throw new IllegalArgumentException("'instance' must not be blank");
		}
		if (this.instance.contains(LockInfo.INSTANCE_END)) {
			throw new IllegalArgumentException(
					"'instance' must not contain '%s', which ends it in the name of a holder, but is '%s'"
						.formatted(LockInfo.INSTANCE_END, this.instance));
		}
		if (this.instance.length() > MAX_INSTANCE_LENGTH) {
			throw new IllegalArgumentException("'instance' must not be longer than %d characters but has %d: '%s'"
				.formatted(MAX_INSTANCE_LENGTH, this.instance.length(), LockRequest.abbreviate(this.instance)));
		}
		if (this.instance.chars().anyMatch(Character::isISOControl)) {
			throw new IllegalArgumentException(
					"'instance' must not contain control characters, such as a tab or the end of a line");
		}
	}

	private static void requireNotNegative(String name, Duration value) {
		if (value.isNegative()) {
			throw new IllegalArgumentException("'%s' must not be negative but is %s".formatted(name, value));
		}
	}

	private static void requirePositive(String name, Duration value) {
		if (value.isZero() || value.isNegative()) {
			throw new IllegalArgumentException("'%s' must be positive but is %s".formatted(name, value));
		}
	}

	/**
	 * A duration that is counted in nanoseconds has a limit.
	 */
	private static void requireLimited(String name, Duration value) {
		if (value.compareTo(LockRequest.MAX_LEASE) > 0) {
			throw new IllegalArgumentException(
					"'%s' must not be longer than %s but is %s".formatted(name, LockRequest.MAX_LEASE, value));
		}
	}

	/**
	 * Each request is checked: {@link Duration#multipliedBy} would create decimals.
	 */
	private static void requireLongEnough(Supplier<String> what, Duration lease, Duration commandTimeout) {
		if (TimeUnit.NANOSECONDS.convert(lease) / MIN_COMMANDS_PER_LEASE < TimeUnit.NANOSECONDS
			.convert(commandTimeout)) {
			throw new IllegalArgumentException(
					"%s is %d ms, shorter than %d command timeouts of %d ms: a failed renewal could not be repeated in time. Use a lease of at least %d ms or a command timeout of at most %d ms"
						.formatted(what.get(), lease.toMillis(), MIN_COMMANDS_PER_LEASE, commandTimeout.toMillis(),
								commandTimeout.toMillis() * MIN_COMMANDS_PER_LEASE,
								lease.toMillis() / MIN_COMMANDS_PER_LEASE));
		}
	}

}
