package io.dlock;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The defaults and limits of a registry. Create it with {@link #defaults()} and the
 * {@code with} methods: components may be added in later versions.
 *
 * @param lease how long a lock is held without renewal if a request does not say
 * @param waitTime how long to wait for a lock if a request does not say
 * @param commandTimeout how long one call to the store may take; every lease must be at
 * least {@value #MIN_COMMANDS_PER_LEASE} times as long
 * @param maxPollInterval how long a waiting process lets pass between two looks at a busy
 * lock, at the most
 * @param shutdownTimeout how long a closing registry waits for running holders before it
 * takes their locks away
 * @param handOffMaxDuration how long waiting threads of this process may pass a lock to
 * each other without asking the store whether another process waits for it; zero to ask
 * each time
 * @param releaseMode whether a release waits for the store
 * @param instance the name of this process shown to operators
 * @param maxHold how long a lock is held at the most if a request does not say, at least
 * the default lease; {@code null} for as long as it is renewed. Only the wait time may be
 * longer than {@link LockRequest#MAX_LEASE}
 * @since 0.1
 */
public record LockSettings(Duration lease, Duration waitTime, Duration commandTimeout, Duration maxPollInterval,
		Duration shutdownTimeout, Duration handOffMaxDuration, ReleaseMode releaseMode, String instance,
		@Nullable Duration maxHold) {

	/**
	 * A lease must outlast this many command timeouts, so that a renewal has time to fail
	 * and be repeated.
	 */
	public static final int MIN_COMMANDS_PER_LEASE = 4;

	private static final Duration MAX_DEFAULT_COMMAND_TIMEOUT = Duration.ofSeconds(1);

	private static final LockSettings DEFAULTS = new LockSettings(Duration.ofSeconds(30), Duration.ofSeconds(5),
			MAX_DEFAULT_COMMAND_TIMEOUT, Duration.ofMillis(100), Duration.ofSeconds(10), Duration.ofMillis(10),
			ReleaseMode.SYNC, "pid-" + ProcessHandle.current().pid(), null);

	public LockSettings {
		LockRequest.checkLease(() -> "'lease'", lease);
		if (waitTime.isNegative()) {
			throw new IllegalArgumentException("'waitTime' must not be negative but is " + waitTime);
		}
		requirePositive("commandTimeout", commandTimeout);
		requirePositive("maxPollInterval", maxPollInterval);
		if (shutdownTimeout.isNegative()) {
			throw new IllegalArgumentException("'shutdownTimeout' must not be negative but is " + shutdownTimeout);
		}
		if (handOffMaxDuration.isNegative()) {
			throw new IllegalArgumentException(
					"'handOffMaxDuration' must not be negative but is " + handOffMaxDuration);
		}
		requireLimited("maxPollInterval", maxPollInterval);
		requireLimited("shutdownTimeout", shutdownTimeout);
		requireLimited("handOffMaxDuration", handOffMaxDuration);
		if (instance.isBlank()) {
			throw new IllegalArgumentException("'instance' must not be blank");
		}
		requireLongEnough(() -> "The default lease", lease, commandTimeout);
		if (maxHold != null) {
			requireLimited("maxHold", maxHold);
		}
		if (maxHold != null && maxHold.compareTo(lease) < 0) {
			throw new IllegalArgumentException("'maxHold' is %d ms, shorter than the default lease of %d ms"
				.formatted(maxHold.toMillis(), lease.toMillis()));
		}
	}

	/**
	 * The defaults: a lease of 30 s, a wait time of 5 s, a command timeout of 1 s, a poll
	 * at least every 100 ms, 10 s for holders at shutdown, 10 ms of hand-off, releases
	 * that wait for the store, and no limit to how long a lock is held.
	 * @return the defaults
	 */
	public static LockSettings defaults() {
		return DEFAULTS;
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
	 * Change the default lease, and the command timeout with it.
	 * @param lease the new default lease
	 * @return the changed settings
	 */
	public LockSettings withLease(Duration lease) {
		return new LockSettings(lease, this.waitTime, commandTimeoutFor(lease), this.maxPollInterval,
				this.shutdownTimeout, this.handOffMaxDuration, this.releaseMode, this.instance, this.maxHold);
	}

	/**
	 * Change the default wait time.
	 * @param waitTime the new default wait time
	 * @return the changed settings
	 */
	public LockSettings withWaitTime(Duration waitTime) {
		return new LockSettings(this.lease, waitTime, this.commandTimeout, this.maxPollInterval, this.shutdownTimeout,
				this.handOffMaxDuration, this.releaseMode, this.instance, this.maxHold);
	}

	/**
	 * Change the command timeout.
	 * @param commandTimeout the new command timeout, at most a quarter of the lease
	 * @return the changed settings
	 */
	public LockSettings withCommandTimeout(Duration commandTimeout) {
		return new LockSettings(this.lease, this.waitTime, commandTimeout, this.maxPollInterval, this.shutdownTimeout,
				this.handOffMaxDuration, this.releaseMode, this.instance, this.maxHold);
	}

	/**
	 * Change how often a waiting process looks at a busy lock.
	 * @param maxPollInterval the new interval
	 * @return the changed settings
	 */
	public LockSettings withMaxPollInterval(Duration maxPollInterval) {
		return new LockSettings(this.lease, this.waitTime, this.commandTimeout, maxPollInterval, this.shutdownTimeout,
				this.handOffMaxDuration, this.releaseMode, this.instance, this.maxHold);
	}

	/**
	 * Change how long a closing registry waits for running holders.
	 * @param shutdownTimeout the new time, zero not to wait
	 * @return the changed settings
	 */
	public LockSettings withShutdownTimeout(Duration shutdownTimeout) {
		return new LockSettings(this.lease, this.waitTime, this.commandTimeout, this.maxPollInterval, shutdownTimeout,
				this.handOffMaxDuration, this.releaseMode, this.instance, this.maxHold);
	}

	/**
	 * Change how long waiting threads of this process may pass a lock to each other.
	 * @param handOffMaxDuration the new time, zero to ask the store each time
	 * @return the changed settings
	 */
	public LockSettings withHandOffMaxDuration(Duration handOffMaxDuration) {
		return new LockSettings(this.lease, this.waitTime, this.commandTimeout, this.maxPollInterval,
				this.shutdownTimeout, handOffMaxDuration, this.releaseMode, this.instance, this.maxHold);
	}

	/**
	 * Change whether a release waits for the store.
	 * @param releaseMode the new mode
	 * @return the changed settings
	 */
	public LockSettings withReleaseMode(ReleaseMode releaseMode) {
		return new LockSettings(this.lease, this.waitTime, this.commandTimeout, this.maxPollInterval,
				this.shutdownTimeout, this.handOffMaxDuration, releaseMode, this.instance, this.maxHold);
	}

	/**
	 * Change the name of this process.
	 * @param instance the new name
	 * @return the changed settings
	 */
	public LockSettings withInstance(String instance) {
		return new LockSettings(this.lease, this.waitTime, this.commandTimeout, this.maxPollInterval,
				this.shutdownTimeout, this.handOffMaxDuration, this.releaseMode, instance, this.maxHold);
	}

	/**
	 * Change how long a lock is held at the most.
	 * @param maxHold the new time, at least the lease, or {@code null} for no limit
	 * @return the changed settings
	 */
	public LockSettings withMaxHold(@Nullable Duration maxHold) {
		return new LockSettings(this.lease, this.waitTime, this.commandTimeout, this.maxPollInterval,
				this.shutdownTimeout, this.handOffMaxDuration, this.releaseMode, this.instance, maxHold);
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
	 * How long the lock of a request is held at the most.
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

	private static void requirePositive(String name, Duration value) {
		if (value.isZero() || value.isNegative()) {
			throw new IllegalArgumentException("'%s' must be positive but is %s".formatted(name, value));
		}
	}

	/**
	 * What is counted in nanoseconds can not be for ever.
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

}
