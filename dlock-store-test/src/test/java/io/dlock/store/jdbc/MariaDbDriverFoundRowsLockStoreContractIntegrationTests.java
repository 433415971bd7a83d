package io.dlock.store.jdbc;

class MariaDbDriverFoundRowsLockStoreContractIntegrationTests extends AbstractMariaDbLockStoreContractTests {

	MariaDbDriverFoundRowsLockStoreContractIntegrationTests() {
		super(SERVER.mariaDbUrl(), false);
	}

}
