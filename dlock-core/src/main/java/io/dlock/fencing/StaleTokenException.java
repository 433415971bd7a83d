package io.dlock.fencing;

import org.springframework.util.StringUtils;

import io.dlock.store.StorageKey;

/**
 * A fenced resource refused a write: a later holder of the lock has written to it, so
 * that the lock of this holder is over, whether or not it knows. Nothing was written.
 * Roll the work back, or do it again from the beginning under a new lock.
 *
 * @since 0.1
 */
public final class StaleTokenException extends RuntimeException {

	private static final int SHOWN = 200;

	private final String resource;

	private final long token;

	private final long newestToken;

	/**
	 * Create the exception.
	 * @param resource the resource that was to be written
	 * @param token the fencing token of the refused write
	 * @param newestToken the highest token the resource has seen
	 */
	public StaleTokenException(String resource, long token, long newestToken) {
		super(("The write to '%s' with the fencing token %d was refused: a later holder of the lock has written there "
				+ "with token %d. Roll back, and do the work again under a new lock if it is still needed")
			.formatted(StringUtils.truncate(StorageKey.of(resource), SHOWN), token, newestToken));
		this.resource = resource;
		this.token = token;
		this.newestToken = newestToken;
	}

	/**
	 * The fenced resource.
	 * @return its name as it was given
	 */
	public String resource() {
		return this.resource;
	}

	/**
	 * The fencing token of the refused write.
	 * @return the token
	 */
	public long token() {
		return this.token;
	}

	/**
	 * The highest fencing token the resource has seen.
	 * @return the token, higher than that of the refused write
	 */
	public long newestToken() {
		return this.newestToken;
	}

}
