package io.dlock.store;

/**
 * The answer of a store to the release of one of several keys.
 *
 * @since 0.1
 */
public enum ReleaseResult {

	/** The key was held by this owner and is free or reserved now. */
	RELEASED,

	/**
	 * This owner does not hold the key, because of an earlier call or because its lease
	 * is over.
	 */
	REFUSED,

	/** There is no answer. */
	UNKNOWN

}
