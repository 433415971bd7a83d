package io.dlock.autoconfigure;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalyzedException;

import io.dlock.LockSettings;
import io.dlock.autoconfigure.StartupRetry.UnusableStoreException;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.quorum.QuorumLockStore;

/**
 * Creates the registry after a check of its configuration and of its store, and logs the
 * settings in effect.
 */
final class LockRegistryFactory {

	private static final Log logger = LogFactory.getLog(LockRegistryFactory.class);

	private final LockStore store;

	private final DlockProperties properties;

	LockRegistryFactory(LockStore store, DlockProperties properties) {
		this.store = store;
		this.properties = properties;
	}

	/**
	 * Create the registry.
	 * @param defaultInstance the name of the instance if the properties have none
	 * @param slice whether the locks are those of a test slice, in memory whatever the
	 * properties say of the store
	 */
	LeaseLockRegistry create(String defaultInstance, boolean slice) {
		LockSettings settings = DlockConfigurationErrors.analyzed(() -> this.properties.settings(defaultInstance));
		if (!slice && this.properties.failover().terms() != null
				&& (this.store.quarantine().isEmpty() || this.store instanceof QuorumLockStore)) {
			throw new FailureAnalyzedException(
					"dlock.failover.quarantine is 'lease', which does not apply to the lock store, %s."
						.formatted(this.store.describe()),
					"Keep the locks in Redis or PostgreSQL, or set dlock.failover.quarantine=off.");
		}
		if (settings.fair() && !this.store.supportsFairLocks()) {
			throw new FailureAnalyzedException(
					"dlock.fair is true, but the lock store, %s, has no fair locks.".formatted(this.store.describe()),
					"Set dlock.fair=false, or choose another dlock.backend.");
		}
		StartupRetry retry = this.properties.startupRetry();
		if (retry != null) {
			verifyStore(retry);
		}
		LeaseLockRegistry registry = new LeaseLockRegistry(this.store, settings);
		logger.info("Locks are in %s: lease %d ms, wait time %d ms, command timeout %d ms, instance %s".formatted(
				this.store.describe(), settings.lease().toMillis(), settings.waitTime().toMillis(),
				settings.commandTimeout().toMillis(), settings.instance()));
		return registry;
	}

	private void verifyStore(StartupRetry retry) {
		try {
			retry.use(this.store::verify);
		}
		catch (StoreMisconfiguredException ex) {
			throw new FailureAnalyzedException(ex.description(), ex.action(), ex);
		}
		catch (UnusableStoreException ex) {
			String store = this.store.describe();
			throw ex.analyzed("dlock cannot use its lock store, %s: %s".formatted(store, ex.last().getMessage()),
					backend(store));
		}
	}

	/**
	 * The text decides, because the classes of other stores may not be loadable.
	 */
	private static @Nullable DlockBackend backend(String store) {
		return store.startsWith("redis") ? DlockBackend.REDIS : store.startsWith("quorum") ? DlockBackend.QUORUM
				: store.startsWith("jdbc") ? DlockBackend.JDBC : null;
	}

}
