package io.dlock.store;

import org.jspecify.annotations.Nullable;

/**
 * The store cannot be used until its configuration is corrected.
 *
 * @since 0.1
 */
public final class StoreMisconfiguredException extends StoreException {

	private final String description;

	private final String action;

	/**
	 * Create the exception.
	 * @param description the problem, as a sentence
	 * @param action the remedy, as a sentence
	 * @param cause the exception of the driver, or {@code null}
	 */
	public StoreMisconfiguredException(String description, String action, @Nullable Throwable cause) {
		super(Effect.NONE, true, description + " " + action, cause);
		this.description = description;
		this.action = action;
	}

	/**
	 * The problem.
	 * @return a sentence
	 */
	public String description() {
		return this.description;
	}

	/**
	 * The remedy.
	 * @return a sentence
	 */
	public String action() {
		return this.action;
	}

}
