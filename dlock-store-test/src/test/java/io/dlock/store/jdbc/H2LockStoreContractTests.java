package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class H2LockStoreContractTests extends AbstractJdbcLockStoreContractTests {

	H2LockStoreContractTests() {
		super(TestDatabase.h2());
	}

}
