package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class PostgreSqlLockStoreContractIntegrationTests extends AbstractJdbcLockStoreContractTests {

	PostgreSqlLockStoreContractIntegrationTests() {
		super(TestDatabase.postgreSql());
	}

}
