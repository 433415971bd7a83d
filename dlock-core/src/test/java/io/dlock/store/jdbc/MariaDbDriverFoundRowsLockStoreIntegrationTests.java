package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class MariaDbDriverFoundRowsLockStoreIntegrationTests extends AbstractMariaDbLockStoreTests {

	@Override
	TestDatabase createDatabase() {
		return TestDatabase.mariaDb().with("useAffectedRows=false");
	}

}
