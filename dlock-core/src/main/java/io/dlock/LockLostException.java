package io.dlock;

/**
 * The lease was over before the lock was released: another caller may hold the lock and
 * may have done the same work. Check or roll back the work since then; a resource that
 * checks {@linkplain LockHandle#token() fencing tokens} refuses the stale writes.
 *
 * @since 0.1
 */
public final class LockLostException extends LockException {

	private final long token;

	private final String reason;

	/**
	 * Create the exception.
	 * @param key the key
	 * @param token the fencing token of the lost lock
	 * @param reason the reason of the loss
	 */
	public LockLostException(String key, long token, String reason) {
		super(key,
				"Lock '%s' (token %d) was lost before its release: %s. Others may have taken it; check what was done under it"
					.formatted(LockRequest.abbreviate(key), token, reason),
				null);
		this.token = token;
		this.reason = reason;
	}

	/**
	 * The fencing token of the lost lock.
	 * @return the token
	 */
	public long token() {
		return this.token;
	}

	/**
	 * The reason of the loss.
	 * @return the reason
	 */
	public String reason() {
		return this.reason;
	}

}
