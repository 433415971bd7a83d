package io.dlock.store.redis;

import java.time.Duration;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.dlock.store.Quarantine;

/**
 * How a {@link RedisLockStore} uses Redis. Create it with {@link #defaults()} and the
 * {@code with} methods: components may be added in later versions.
 *
 * @param prefix the beginning of the name of every Redis key: letters, digits and
 * {@code . _ : / -}
 * @param commandTimeout how long a command may take
 * @param quarantine how long no lock is granted after a failover or a restart of Redis,
 * or {@code null} to grant locks at once
 * @param acknowledgement the acknowledgement that a lock needs, or {@code null} for none
 * @since 0.1
 */
public record RedisLockStoreSettings(String prefix, Duration commandTimeout, @Nullable Quarantine quarantine,
		@Nullable RedisAcknowledgement acknowledgement) {

	private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9._:/-]{1,100}");

	public RedisLockStoreSettings {
		if (!PREFIX.matcher(prefix).matches()) {
			throw new IllegalArgumentException(
					"'prefix' must be 1 to 100 letters, digits or . _ : / - but is '" + prefix + "'");
		}
		if (commandTimeout.toMillis() < 1) {
			throw new IllegalArgumentException("'commandTimeout' must be at least 1 ms but is " + commandTimeout);
		}
		if (acknowledgement != null && acknowledgement.timeout().compareTo(commandTimeout.dividedBy(2)) > 0) {
			throw new IllegalArgumentException(
					"'timeout' of the acknowledgement must be at most half of the command timeout, %d ms, but is %d ms"
						.formatted(commandTimeout.toMillis() / 2, acknowledgement.timeout().toMillis()));
		}
	}

	/**
	 * Create settings without a quarantine and an acknowledgement.
	 * @param prefix the prefix
	 * @param commandTimeout the timeout
	 */
	public RedisLockStoreSettings(String prefix, Duration commandTimeout) {
		this(prefix, commandTimeout, null, null);
	}

	/**
	 * The defaults: prefix {@code dlock}, a command timeout of one second, no quarantine,
	 * no acknowledgement.
	 * @return the defaults
	 */
	public static RedisLockStoreSettings defaults() {
		return new RedisLockStoreSettings("dlock", Duration.ofSeconds(1));
	}

	/**
	 * Change the prefix.
	 * @param prefix the new prefix
	 * @return the changed settings
	 */
	public RedisLockStoreSettings withPrefix(String prefix) {
		return new RedisLockStoreSettings(prefix, this.commandTimeout, this.quarantine, this.acknowledgement);
	}

	/**
	 * Change the command timeout.
	 * @param commandTimeout the new timeout
	 * @return the changed settings
	 */
	public RedisLockStoreSettings withCommandTimeout(Duration commandTimeout) {
		return new RedisLockStoreSettings(this.prefix, commandTimeout, this.quarantine, this.acknowledgement);
	}

	/**
	 * Change the quarantine.
	 * @param quarantine the new quarantine, or {@code null} for none
	 * @return the changed settings
	 */
	public RedisLockStoreSettings withQuarantine(@Nullable Quarantine quarantine) {
		return new RedisLockStoreSettings(this.prefix, this.commandTimeout, quarantine, this.acknowledgement);
	}

	/**
	 * Change the acknowledgement.
	 * @param acknowledgement the new acknowledgement, or {@code null} for none
	 * @return the changed settings
	 */
	public RedisLockStoreSettings withAcknowledgement(@Nullable RedisAcknowledgement acknowledgement) {
		return new RedisLockStoreSettings(this.prefix, this.commandTimeout, this.quarantine, acknowledgement);
	}

}
