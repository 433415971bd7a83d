package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class ConnectorJAffectedRowsLockStoreIntegrationTests extends AbstractMariaDbLockStoreTests {

	@Override
	TestDatabase createDatabase() {
		return TestDatabase.mariaDbWithConnectorJ().with("useAffectedRows=true");
	}

}
