package io.dlock.store.jdbc;

class ConnectorJFoundRowsLockStoreIntegrationTests extends AbstractMariaDbLockStoreTests {

	@Override
	String baseUrl() {
		return this.server.mysqlUrl();
	}

	@Override
	boolean useAffectedRows() {
		return false;
	}

}
