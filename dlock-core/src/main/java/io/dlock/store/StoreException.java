package io.dlock.store;

import org.jspecify.annotations.Nullable;

/**
 * The store gave no answer.
 *
 * @since 0.1
 */
public class StoreException extends RuntimeException {

	private final Effect effect;

	private final boolean permanent;

	/**
	 * Create the exception.
	 * @param effect whether the command may have taken effect
	 * @param permanent whether repeating the command is pointless
	 * @param message the failure
	 * @param cause the exception of the driver, or {@code null}
	 */
	public StoreException(Effect effect, boolean permanent, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.effect = effect;
		this.permanent = permanent;
	}

	/**
	 * Whether the store itself fails.
	 * @return {@code false} if it answers, but did not execute the command, such as in a
	 * quarantine
	 */
	public boolean isOutage() {
		return true;
	}

	/**
	 * Whether the command can have taken effect.
	 * @return the effect
	 */
	public Effect effect() {
		return this.effect;
	}

	/**
	 * Whether the failure lasts until the configuration changes: a missing table, wrong
	 * credentials.
	 * @return {@code true} if repeating the command is pointless
	 */
	public boolean isPermanent() {
		return this.permanent;
	}

	/**
	 * Whether a command that failed may have taken effect.
	 */
	public enum Effect {

		/** The store did not execute the command. */
		NONE,

		/**
		 * The store may have executed the command, or may still execute it.
		 */
		UNKNOWN

	}

}
