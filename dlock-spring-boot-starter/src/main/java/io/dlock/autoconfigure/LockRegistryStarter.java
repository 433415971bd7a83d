package io.dlock.autoconfigure;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.diagnostics.FailureAnalyzedException;

import io.dlock.LockSettings;
import io.dlock.autoconfigure.StartPatience.FirstUseException;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
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
		StartPatience patience = this.properties.patience();
		if (patience != null) {
			verifyStore(patience);
		}
		LeaseLockRegistry registry = new LeaseLockRegistry(this.store, settings);
		logger.info("Locks are in %s: lease %d ms, wait time %d ms, command timeout %d ms, instance %s".formatted(
				this.store.describe(), settings.lease().toMillis(), settings.waitTime().toMillis(),
				settings.commandTimeout().toMillis(), settings.instance()));
		return registry;
	}

	private void verifyStore(StartPatience patience) {
		try {
			patience.use(this.store::verify);
		}
		catch (StoreMisconfiguredException ex) {
			throw new FailureAnalyzedException(ex.description(), ex.action(), ex);
		}
		catch (FirstUseException ex) {
			String store = this.store.describe();
			throw ex.analyzed("dlock cannot use its lock store, %s: %s".formatted(store, ex.last().getMessage()),
					store.startsWith("redis"));
		}
	}

}
