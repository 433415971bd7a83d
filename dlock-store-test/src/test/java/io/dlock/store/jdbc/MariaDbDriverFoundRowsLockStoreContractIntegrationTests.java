package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class MariaDbDriverFoundRowsLockStoreContractIntegrationTests extends AbstractJdbcLockStoreContractTests {

	MariaDbDriverFoundRowsLockStoreContractIntegrationTests() {
		super(TestDatabase.mariaDb().with("useAffectedRows=false"));
	}

}
