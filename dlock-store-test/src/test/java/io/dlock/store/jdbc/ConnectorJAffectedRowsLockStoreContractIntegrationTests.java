package io.dlock.store.jdbc;

class ConnectorJAffectedRowsLockStoreContractIntegrationTests extends AbstractMariaDbLockStoreContractTests {

	ConnectorJAffectedRowsLockStoreContractIntegrationTests() {
		super(SERVER.mysqlUrl(), true);
	}

}
