package io.dlock.autoconfigure;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.diagnostics.FailureAnalyzedException;

import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.StoreException;
import io.dlock.store.StoreMisconfiguredException;

/**
 * Creates the registry, after checking that its configuration holds and its store works,
 * and says in one line what is in effect.
 */
final class LockRegistryStarter {

	private static final Log logger = LogFactory.getLog(LockRegistryStarter.class);

	private final LockStore store;

	private final DlockProperties properties;

	LockRegistryStarter(LockStore store, DlockProperties properties) {
		this.store = store;
		this.properties = properties;
	}

	LeaseLockRegistry start(String defaultInstance) {
		LockSettings settings = DlockConfigurationErrors.analyzed(() -> this.properties.settings(defaultInstance));
		if (this.properties.startupCheck()) {
			verifyStore();
		}
		LeaseLockRegistry registry = new LeaseLockRegistry(this.store, settings);
		logger.info("Locks are in %s: lease %d ms, wait time %d ms, command timeout %d ms, instance %s".formatted(
				this.store.describe(), settings.lease().toMillis(), settings.waitTime().toMillis(),
				settings.commandTimeout().toMillis(), settings.instance()));
		return registry;
	}

	private void verifyStore() {
		try {
			this.store.verify();
		}
		catch (StoreMisconfiguredException ex) {
			throw new FailureAnalyzedException(ex.description(), ex.action(), ex);
		}
		catch (StoreException ex) {
			throw new FailureAnalyzedException(
					"dlock can not use its lock store, %s: %s.".formatted(this.store.describe(), ex.getMessage()),
					"Check that the store is up, writable, and that its address and credentials are right. "
							+ "To start without it, set dlock.startup-check=false: locked methods will fail until it is back.",
					ex);
		}
	}

}
