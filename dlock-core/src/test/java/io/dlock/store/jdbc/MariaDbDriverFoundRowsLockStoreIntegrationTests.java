package io.dlock.store.jdbc;

class MariaDbDriverFoundRowsLockStoreIntegrationTests extends AbstractMariaDbLockStoreTests {

	@Override
	String baseUrl() {
		return this.server.mariaDbUrl();
	}

	@Override
	boolean useAffectedRows() {
		return false;
	}

}
