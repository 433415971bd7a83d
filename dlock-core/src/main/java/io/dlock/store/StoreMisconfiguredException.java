package io.dlock.store;

import org.jspecify.annotations.Nullable;

/**
 * The store can not be used until somebody changes its configuration.
 *
 * @since 0.1
 */
public final class StoreMisconfiguredException extends StoreException {

	private final String description;

	private final String action;

	/**
	 * Create the exception.
	 * @param description what is wrong
	 * @param action what to do about it
	 * @param cause what the driver said, or {@code null}
	 */
	public StoreMisconfiguredException(String description, String action, @Nullable Throwable cause) {
		super(Effect.NONE, true, description + " " + action, cause);
		this.description = description;
		this.action = action;
	}

	/**
	 * What is wrong.
	 * @return a sentence
	 */
	public String description() {
		return this.description;
	}

	/**
	 * What to do about it.
	 * @return a sentence
	 */
	public String action() {
		return this.action;
	}

}
