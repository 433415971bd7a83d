package io.dlock.autoconfigure;

import java.util.function.Supplier;

import org.springframework.boot.diagnostics.FailureAnalyzedException;

import io.dlock.store.StoreMisconfiguredException;

/**
 * Turns refused property values into a description and an action. For the
 * auto-configurations of dlock only.
 */
public final class DlockConfigurationErrors {

	private DlockConfigurationErrors() {
	}

	static void analyzed(Runnable configuration) {
		analyzed(() -> {
			configuration.run();
			return configuration;
		});
	}

	/**
	 * Create an object from properties.
	 * @param <T> the type of the object
	 * @param configured creates the object
	 * @return the object
	 * @throws FailureAnalyzedException if a property has a value that is refused, or a
	 * store cannot be used as it is configured
	 */
	public static <T> T analyzed(Supplier<T> configured) {
		try {
			return configured.get();
		}
		catch (IllegalArgumentException ex) {
			throw new FailureAnalyzedException("The configuration of dlock is not valid: " + ex.getMessage() + ".",
					"Correct the dlock.* properties.", ex);
		}
		catch (StoreMisconfiguredException ex) {
			throw new FailureAnalyzedException(ex.description(), ex.action(), ex);
		}
	}

}
