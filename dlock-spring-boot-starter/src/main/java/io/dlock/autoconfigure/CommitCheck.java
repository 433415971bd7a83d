package io.dlock.autoconfigure;

/**
 * The check before the commit of a transaction whose thread holds locks.
 *
 * @since 0.1
 */
public enum CommitCheck {

	/**
	 * The locks are valid: a lock that is lost by then rolls the transaction back. The
	 * remaining risk is a pause of the process between the check and the commit that
	 * outlasts the lease.
	 */
	VALIDITY,

	/**
	 * The locks are valid, and the transaction locks their rows in the database until it
	 * has ended, so that they are not granted before: excludes exactly, also across
	 * pauses. The locks must be in the database of the transaction.
	 */
	ROW,

	/**
	 * No check.
	 */
	OFF

}
