package io.dlock.store.jdbc;

class MariaDbDriverAffectedRowsLockStoreContractIntegrationTests extends AbstractMariaDbLockStoreContractTests {

	MariaDbDriverAffectedRowsLockStoreContractIntegrationTests() {
		super(SERVER.mariaDbUrl(), true);
	}

}
