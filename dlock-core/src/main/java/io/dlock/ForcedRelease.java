package io.dlock;

/**
 * What became of a forced release.
 *
 * @since 0.1
 * @see LockConsole#forceRelease
 */
public enum ForcedRelease {

	/** The lock was taken away from its holder. */
	RELEASED,

	/** Nobody held the lock. */
	NOT_HELD,

	/** Somebody else than expected holds the lock. Nothing was done. */
	OTHER_TOKEN

}
