package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class MariaDbDriverAffectedRowsLockStoreContractIntegrationTests extends AbstractJdbcLockStoreContractTests {

	MariaDbDriverAffectedRowsLockStoreContractIntegrationTests() {
		super(TestDatabase.mariaDb().with("useAffectedRows=true"));
	}

}
