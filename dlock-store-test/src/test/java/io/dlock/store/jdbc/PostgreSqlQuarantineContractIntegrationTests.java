package io.dlock.store.jdbc;

import java.time.Duration;

import io.dlock.store.LockStore;
import io.dlock.store.Quarantine;

/**
 * The contract behind a quarantine that is over.
 */
class PostgreSqlQuarantineContractIntegrationTests extends PostgreSqlLockStoreContractIntegrationTests {

	@Override
	JdbcLockStoreSettings settings() {
		return super.settings().withQuarantine(new Quarantine(Duration.ofHours(1), Duration.ZERO));
	}

	@Override
	protected LockStore createStore() {
		LockStore store = super.createStore();
		store.verify();
		update("UPDATE dlock_lock SET token = 0 WHERE lock_key = '!quarantine'");
		return store;
	}

	@Override
	protected void loseEverything() {
		update("DELETE FROM dlock_lock WHERE lock_key <> '!quarantine'");
	}

}
