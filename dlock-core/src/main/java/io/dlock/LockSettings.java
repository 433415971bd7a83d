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

	private LockSettings(Builder builder) {
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
		validate();
	}

	private void validate() {
		LockRequest.checkLease(() -> "'lease'", this.lease);
		requireNotNegative("waitTime", this.waitTime);
		requirePositive("commandTimeout", this.commandTimeout);
		requirePositive("maxPollInterval", this.maxPollInterval);
		requireNotNegative("shutdownTimeout", this.shutdownTimeout);
		requireNotNegative("handOffMaxDuration", this.handOffMaxDuration);
		requireLimited("maxPollInterval", this.maxPollInterval);
		requireLimited("shutdownTimeout", this.shutdownTimeout);
		requireLimited("handOffMaxDuration", this.handOffMaxDuration);
		if (this.instance.isBlank()) {
			throw new IllegalArgumentException("'instance' must not be blank");
		}
		requireLongEnough(() -> "The default lease", this.lease, this.commandTimeout);
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
	public static Builder builder() {
		return new Builder();
	}

	/**
	 * Start with these settings. A command timeout that suits the lease follows it.
	 * @return a builder with the values of these settings
	 */
	public Builder toBuilder() {
		Builder builder = new Builder();
		builder.lease = this.lease;
		builder.waitTime = this.waitTime;
		builder.maxPollInterval = this.maxPollInterval;
		builder.shutdownTimeout = this.shutdownTimeout;
		builder.handOffMaxDuration = this.handOffMaxDuration;
		builder.releaseMode = this.releaseMode;
		builder.instance = this.instance;
		builder.maxHold = this.maxHold;
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
	 * The lease of a request without one.
	 * @return the value
	 */
	public Duration lease() {
		return this.lease;
	}

	/**
	 * The wait time of a request without one.
	 * @return the value
	 */
	public Duration waitTime() {
		return this.waitTime;
	}

	/**
	 * The timeout of one call to the store.
	 * @return the value
	 */
	public Duration commandTimeout() {
		return this.commandTimeout;
	}

	/**
	 * The longest pause of a waiting process between two attempts.
	 * @return the value
	 */
	public Duration maxPollInterval() {
		return this.maxPollInterval;
	}

	/**
	 * The time that a closing registry gives to running holders.
	 * @return the value
	 */
	public Duration shutdownTimeout() {
		return this.shutdownTimeout;
	}

	/**
	 * The time for which threads of this process pass a lock on without asking the store.
	 * @return the value
	 */
	public Duration handOffMaxDuration() {
		return this.handOffMaxDuration;
	}

	/**
	 * Whether a release waits for the store.
	 * @return the value
	 */
	public ReleaseMode releaseMode() {
		return this.releaseMode;
	}

	/**
	 * The name of this process that operators see.
	 * @return the value
	 */
	public String instance() {
		return this.instance;
	}

	/**
	 * The {@code maxHold} of a request without one, or {@code null}.
	 * @return the value
	 */
	public @Nullable Duration maxHold() {
		return this.maxHold;
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
	 * {@value #MIN_COMMANDS_PER_LEASE} command timeouts, or its lease or {@code minHold}
	 * is longer than its {@code maxHold}
	 */
	public void validate(LockRequest request) {
		if (request.lease() != null && request.renew()) {
			requireLongEnough(() -> "The lease of lock '" + LockRequest.abbreviate(request.key()) + "'",
					request.lease(), this.commandTimeout);
		}
		Duration longest = maxHoldOf(request);
		if (longest != null) {
			LockRequest.checkLimits(request.key(), leaseOf(request), request.minHold(), longest);
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
	 * Without the decimals of {@link Duration#multipliedBy}: each request is checked.
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

	/**
	 * Builds {@link LockSettings}.
	 */
	public static final class Builder {

		private Duration lease = Duration.ofSeconds(30);

		private Duration waitTime = Duration.ofSeconds(5);

		private @Nullable Duration commandTimeout;

		private Duration maxPollInterval = Duration.ofMillis(100);

		private Duration shutdownTimeout = Duration.ofSeconds(10);

		private Duration handOffMaxDuration = Duration.ofMillis(10);

		private ReleaseMode releaseMode = ReleaseMode.SYNC;

		private String instance = "pid-" + ProcessHandle.current().pid();

		private @Nullable Duration maxHold;

		private Builder() {
		}

		/**
		 * Set how long a lock is held without renewal if a request does not say.
		 * @param lease a duration of at least
		 * {@value LockSettings#MIN_COMMANDS_PER_LEASE} command timeouts
		 * @return this builder
		 */
		public Builder lease(Duration lease) {
			this.lease = lease;
			return this;
		}

		/**
		 * Set how long to wait for a lock if a request does not say.
		 * @param waitTime zero to try once, {@link LockRequest#FOREVER} to wait without
		 * an end
		 * @return this builder
		 */
		public Builder waitTime(Duration waitTime) {
			this.waitTime = waitTime;
			return this;
		}

		/**
		 * Set how long one call to the store may take. Without a command timeout it
		 * follows the lease, as {@link LockSettings#commandTimeoutFor} says.
		 * @param commandTimeout at most a quarter of the lease, or {@code null}
		 * @return this builder
		 */
		public Builder commandTimeout(@Nullable Duration commandTimeout) {
			this.commandTimeout = commandTimeout;
			return this;
		}

		/**
		 * Set the longest pause of a waiting process between two attempts.
		 * @param maxPollInterval the interval
		 * @return this builder
		 */
		public Builder maxPollInterval(Duration maxPollInterval) {
			this.maxPollInterval = maxPollInterval;
			return this;
		}

		/**
		 * Set how long a closing registry waits for running holders before it takes their
		 * locks away.
		 * @param shutdownTimeout the time, zero not to wait
		 * @return this builder
		 */
		public Builder shutdownTimeout(Duration shutdownTimeout) {
			this.shutdownTimeout = shutdownTimeout;
			return this;
		}

		/**
		 * Set how long waiting threads of this process pass a lock to each other without
		 * asking the store whether another process waits for it.
		 * @param handOffMaxDuration the time, zero to ask each time
		 * @return this builder
		 */
		public Builder handOffMaxDuration(Duration handOffMaxDuration) {
			this.handOffMaxDuration = handOffMaxDuration;
			return this;
		}

		/**
		 * Set whether a release waits for the store.
		 * @param releaseMode the mode
		 * @return this builder
		 */
		public Builder releaseMode(ReleaseMode releaseMode) {
			this.releaseMode = releaseMode;
			return this;
		}

		/**
		 * Set the name of this process that operators see.
		 * @param instance the name, not blank
		 * @return this builder
		 */
		public Builder instance(String instance) {
			this.instance = instance;
			return this;
		}

		/**
		 * Set the longest time for which a lock is held if a request does not say.
		 * @param maxHold at least the lease, or {@code null} for no limit
		 * @return this builder
		 */
		public Builder maxHold(@Nullable Duration maxHold) {
			this.maxHold = maxHold;
			return this;
		}

		/**
		 * Build the settings.
		 * @return the settings
		 * @throws IllegalArgumentException if a value is out of range
		 */
		public LockSettings build() {
			return new LockSettings(this);
		}

	}

}
