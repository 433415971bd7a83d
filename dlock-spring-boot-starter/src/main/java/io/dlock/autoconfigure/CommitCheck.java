package io.dlock.autoconfigure;

/**
 * What a transaction must pass before it commits while its thread holds locks.
 *
 * @since 0.1
 */
public enum CommitCheck {

	/**
	 * The locks are valid: one that is lost by then rolls the transaction back. What
	 * remains is a pause of the process between the check and the commit that outlasts
	 * the lease.
	 */
	VALIDITY,

	/**
	 * The locks are valid, and the transaction locks their rows in the database until it
	 * has ended, so that nobody is granted them before: excludes exactly, also across
	 * pauses. Needs the locks to be in the database of the transaction.
	 */
	ROW,

	/**
	 * Nothing.
	 */
	OFF

}
