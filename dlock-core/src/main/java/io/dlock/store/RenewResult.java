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
	 * The lease was not renewed, because the other leases of its call took the time. The
	 * engine sends it again at once. A call needs another answer besides this one.
	 */
	NOT_SENT

}
