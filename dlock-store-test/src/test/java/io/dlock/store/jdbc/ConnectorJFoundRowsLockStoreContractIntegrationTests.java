package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class ConnectorJFoundRowsLockStoreContractIntegrationTests extends AbstractJdbcLockStoreContractTests {

	ConnectorJFoundRowsLockStoreContractIntegrationTests() {
		super(TestDatabase.mariaDbWithConnectorJ().with("useAffectedRows=false"));
	}

}
