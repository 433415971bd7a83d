package io.dlock.store;

/**
 * The answer of a store to a renewal.
 *
 * @since 0.1
 */
public enum RenewResult {

	/** The lease started anew. */
	RENEWED,

	/** The owner does not hold the key any more, or its lease is over. */
	REFUSED,

	/** There is no answer: the lease may have started anew or not. */
	UNKNOWN,

	/**
	 * The lease was not renewed, because the others of its call took the time. It is sent
	 * again at once, so that this is no answer to a call without other answers.
	 */
	NOT_SENT

}
