package io.dlock.store.jdbc;

class ConnectorJAffectedRowsLockStoreIntegrationTests extends AbstractMariaDbLockStoreTests {

	@Override
	String baseUrl() {
		return this.server.mysqlUrl();
	}

	@Override
	boolean useAffectedRows() {
		return true;
	}

}
