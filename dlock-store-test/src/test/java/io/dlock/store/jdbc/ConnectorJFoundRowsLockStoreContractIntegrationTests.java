package io.dlock.store.jdbc;

class ConnectorJFoundRowsLockStoreContractIntegrationTests extends AbstractMariaDbLockStoreContractTests {

	ConnectorJFoundRowsLockStoreContractIntegrationTests() {
		super(SERVER.mysqlUrl(), false);
	}

}
