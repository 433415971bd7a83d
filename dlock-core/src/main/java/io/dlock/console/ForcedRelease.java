package io.dlock.console;

/**
 * The outcome of a forced release.
 *
 * @since 0.1
 * @see LockConsole#forceRelease
 */
public enum ForcedRelease {

	/** The lock was taken away from its holder. */
	RELEASED,

	/** The lock was not held. */
	NOT_HELD,

	/** A holder with another token has the lock. Nothing was done. */
	OTHER_TOKEN

}
