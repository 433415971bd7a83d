package io.dlock.store.jdbc;

import java.util.UUID;

class H2LockStoreContractTests extends AbstractJdbcLockStoreContractTests {

	H2LockStoreContractTests() {
		super("schema-h2.sql", "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", "sa", "secret");
	}

}
