package io.dlock.store.jdbc;

class MariaDbDriverAffectedRowsLockStoreIntegrationTests extends AbstractMariaDbLockStoreTests {

	@Override
	String baseUrl() {
		return this.server.mariaDbUrl();
	}

	@Override
	boolean useAffectedRows() {
		return true;
	}

}
