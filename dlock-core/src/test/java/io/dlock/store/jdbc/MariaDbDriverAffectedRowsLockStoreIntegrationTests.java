package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class MariaDbDriverAffectedRowsLockStoreIntegrationTests extends AbstractMariaDbLockStoreTests {

	@Override
	TestDatabase createDatabase() {
		return TestDatabase.mariaDb().with("useAffectedRows=true");
	}

}
