package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class MariaDbMemberIntegrationTests extends AbstractJdbcMemberTests {

	MariaDbMemberIntegrationTests() {
		super(TestDatabase.mariaDb());
	}

}
