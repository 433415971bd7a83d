package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class MariaDbMemberRowIntegrationTests extends AbstractJdbcMemberRowTests {

	MariaDbMemberRowIntegrationTests() {
		super(TestDatabase.mariaDb());
	}

}
