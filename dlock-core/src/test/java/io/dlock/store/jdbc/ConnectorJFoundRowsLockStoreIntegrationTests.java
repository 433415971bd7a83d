package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class ConnectorJFoundRowsLockStoreIntegrationTests extends AbstractMariaDbLockStoreTests {

	@Override
	TestDatabase createDatabase() {
		return TestDatabase.mariaDbWithConnectorJ().with("useAffectedRows=false");
	}

}
