package io.dlock.autoconfigure;

import java.util.function.Supplier;

import org.springframework.boot.diagnostics.FailureAnalyzedException;

/**
 * What the values of the properties do not allow, as a description and an action.
 */
final class DlockConfigurationErrors {

	private DlockConfigurationErrors() {
	}

	static void analyzed(Runnable configuration) {
		analyzed(() -> {
			configuration.run();
			return configuration;
		});
	}

	static <T> T analyzed(Supplier<T> configured) {
		try {
			return configured.get();
		}
		catch (IllegalArgumentException ex) {
			throw new FailureAnalyzedException("The configuration of dlock does not hold: " + ex.getMessage() + ".",
					"Correct the dlock.* properties.", ex);
		}
	}

}
