package io.dlock;

/**
 * The lease was over before the lock was released: somebody else may hold the lock and
 * may have done the same work. What was done since is to be checked or rolled back; a
 * resource that checks {@linkplain LockHandle#token() fencing tokens} has refused it.
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
	 * @param reason how the lock was lost
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
	 * How the lock was lost.
	 * @return the reason
	 */
	public String reason() {
		return this.reason;
	}

}
