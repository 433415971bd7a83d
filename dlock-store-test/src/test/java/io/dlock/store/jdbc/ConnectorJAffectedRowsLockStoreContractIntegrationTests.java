package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class ConnectorJAffectedRowsLockStoreContractIntegrationTests extends AbstractJdbcLockStoreContractTests {

	ConnectorJAffectedRowsLockStoreContractIntegrationTests() {
		super(TestDatabase.mariaDbWithConnectorJ().with("useAffectedRows=true"));
	}

}
