package io.dlock.fencing.jdbc;

import io.dlock.test.TestDatabase;

class PostgreSqlFencingGuardIntegrationTests extends AbstractFencingGuardTests {

	@Override
	TestDatabase createDatabase() {
		return TestDatabase.postgreSql();
	}

	@Override
	String cleanUp() {
		return "interval ";
	}

}
