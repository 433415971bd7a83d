package io.dlock.fencing.jdbc;

import io.dlock.test.TestDatabase;

class MariaDbFencingGuardIntegrationTests extends AbstractFencingGuardTests {

	@Override
	TestDatabase createDatabase() {
		return TestDatabase.mariaDb();
	}

	@Override
	String cleanUp() {
		return "UNIX_TIMESTAMP";
	}

}
