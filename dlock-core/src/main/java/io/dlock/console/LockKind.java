package io.dlock.console;

/**
 * The kinds of locks, as operators see them.
 *
 * @since 0.1
 */
public enum LockKind {

	/**
	 * A lock with one holder.
	 */
	EXCLUSIVE,

	/**
	 * A lock that several readers hold.
	 */
	SHARED,

	/**
	 * One of the permits of a limit.
	 */
	PERMIT

}
