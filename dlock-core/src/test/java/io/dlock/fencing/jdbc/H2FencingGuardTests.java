package io.dlock.fencing.jdbc;

import io.dlock.test.TestDatabase;

class H2FencingGuardTests extends AbstractFencingGuardTests {

	@Override
	TestDatabase createDatabase() {
		return TestDatabase.h2();
	}

	@Override
	String cleanUp() {
		return "DATEADD";
	}

}
