package io.dlock;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Builds {@link LockSettings}.
 *
 * @since 0.1
 */
public final class LockSettingsBuilder {

	/** A container that is restarted has the process id of the one before. */
	private static final String PROCESS = "pid-" + ProcessHandle.current().pid() + "-" + Long.toString(
			ProcessHandle.current().info().startInstant().orElseGet(Instant::now).toEpochMilli(), Character.MAX_RADIX);

	Duration lease = Duration.ofSeconds(30);

	Duration waitTime = Duration.ofSeconds(5);

	@Nullable Duration commandTimeout;

	Duration maxPollInterval = Duration.ofMillis(100);

	Duration shutdownTimeout = Duration.ofSeconds(10);

	Duration handOffMaxDuration = Duration.ofMillis(10);

	ReleaseMode releaseMode = ReleaseMode.SYNC;

	String instance = PROCESS;

	@Nullable Duration maxHold;

	boolean fair;

	@Nullable Duration longestLease;

	LockSettingsBuilder() {
	}

	/**
	 * Set the lease of requests that do not specify one.
	 * @param lease a duration of at least {@value LockSettings#MIN_COMMANDS_PER_LEASE}
	 * command timeouts
	 * @return this builder
	 */
	public LockSettingsBuilder lease(Duration lease) {
		this.lease = lease;
		return this;
	}

	/**
	 * Set the wait time of requests that do not specify one.
	 * @param waitTime zero to try once, {@link LockRequest#FOREVER} to wait without a
	 * limit
	 * @return this builder
	 */
	public LockSettingsBuilder waitTime(Duration waitTime) {
		this.waitTime = waitTime;
		return this;
	}

	/**
	 * Set how long one call to the store may take. By default it follows the lease, as
	 * {@link LockSettings#commandTimeoutFor} says.
	 * @param commandTimeout at most a quarter of the lease, or {@code null}
	 * @return this builder
	 */
	public LockSettingsBuilder commandTimeout(@Nullable Duration commandTimeout) {
		this.commandTimeout = commandTimeout;
		return this;
	}

	/**
	 * Set the longest pause between two attempts of the process that is next in the
	 * queue. The pause of another process grows with its place.
	 * @param maxPollInterval the interval
	 * @return this builder
	 */
	public LockSettingsBuilder maxPollInterval(Duration maxPollInterval) {
		this.maxPollInterval = maxPollInterval;
		return this;
	}

	/**
	 * Set how long a closing registry waits for running holders before it takes their
	 * locks away.
	 * @param shutdownTimeout the time; zero does not wait
	 * @return this builder
	 */
	public LockSettingsBuilder shutdownTimeout(Duration shutdownTimeout) {
		this.shutdownTimeout = shutdownTimeout;
		return this;
	}

	/**
	 * Set how long waiting threads of this process pass a lock to each other without
	 * asking the store whether another process waits for it.
	 * @param handOffMaxDuration the time, zero to ask each time
	 * @return this builder
	 */
	public LockSettingsBuilder handOffMaxDuration(Duration handOffMaxDuration) {
		this.handOffMaxDuration = handOffMaxDuration;
		return this;
	}

	/**
	 * Set whether a release waits for the store.
	 * @param releaseMode the mode
	 * @return this builder
	 */
	public LockSettingsBuilder releaseMode(ReleaseMode releaseMode) {
		this.releaseMode = releaseMode;
		return this;
	}

	/**
	 * Set the name of this process that operators see. It must differ from that of every
	 * other process, and from that of this one before a restart, because an operator
	 * takes locks away by that name. The default is the process id and the start of the
	 * process.
	 * @param instance the name, at most {@value LockSettings#MAX_INSTANCE_LENGTH}
	 * characters, not blank and without control characters and {@code " ["}, which ends
	 * it in the name of a holder
	 * @return this builder
	 */
	public LockSettingsBuilder instance(String instance) {
		this.instance = instance;
		return this;
	}

	/**
	 * Set the longest time for which a lock is held if a request does not say.
	 * @param maxHold at least the lease, or {@code null} for no limit
	 * @return this builder
	 */
	public LockSettingsBuilder maxHold(@Nullable Duration maxHold) {
		this.maxHold = maxHold;
		return this;
	}

	/**
	 * Set whether requests that do not say otherwise are
	 * {@linkplain LockRequestBuilder#fair fair}.
	 * @param fair {@code true} for the order of the first attempts, {@code false} by
	 * default
	 * @return this builder
	 */
	public LockSettingsBuilder fair(boolean fair) {
		this.fair = fair;
		return this;
	}

	/**
	 * Set the longest lease that a request may have.
	 * @param longestLease at least the lease, or {@code null} for no limit. A store with
	 * a {@linkplain io.dlock.store.Quarantine quarantine} needs the same limit
	 * @return this builder
	 */
	public LockSettingsBuilder longestLease(@Nullable Duration longestLease) {
		this.longestLease = longestLease;
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
