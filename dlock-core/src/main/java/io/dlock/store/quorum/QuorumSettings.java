package io.dlock.store.quorum;

import java.time.Duration;

/**
 * How a {@link QuorumLockStore} uses its nodes. Create it with {@link #defaults()} and
 * the {@code with} methods: components may be added in later versions.
 *
 * @param commandTimeout how long to wait for the answers of the nodes to one command; the
 * nodes should have the same timeout
 * @param wrongClocks how many nodes may have a clock that jumps forward during a lease;
 * the more there are, the more votes a lock needs
 * @since 0.1
 */
public record QuorumSettings(Duration commandTimeout, int wrongClocks) {

	public QuorumSettings {
		if (commandTimeout.toMillis() < 1) {
			throw new IllegalArgumentException("'commandTimeout' must be at least 1 ms but is " + commandTimeout);
		}
		if (wrongClocks < 0) {
			throw new IllegalArgumentException("'wrongClocks' must not be negative but is " + wrongClocks);
		}
	}

	/**
	 * The defaults: a command timeout of one second, and no wrong clock.
	 * @return the defaults
	 */
	public static QuorumSettings defaults() {
		return new QuorumSettings(Duration.ofSeconds(1), 0);
	}

	/**
	 * Change the command timeout.
	 * @param commandTimeout the new timeout
	 * @return the changed settings
	 */
	public QuorumSettings withCommandTimeout(Duration commandTimeout) {
		return new QuorumSettings(commandTimeout, this.wrongClocks);
	}

	/**
	 * Change the number of wrong clocks.
	 * @param wrongClocks the new number
	 * @return the changed settings
	 */
	public QuorumSettings withWrongClocks(int wrongClocks) {
		return new QuorumSettings(this.commandTimeout, wrongClocks);
	}

}
