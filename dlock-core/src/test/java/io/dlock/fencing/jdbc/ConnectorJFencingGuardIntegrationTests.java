package io.dlock.fencing.jdbc;

import io.dlock.test.TestDatabase;

class ConnectorJFencingGuardIntegrationTests extends MariaDbFencingGuardIntegrationTests {

	@Override
	TestDatabase createDatabase() {
		return TestDatabase.mariaDbWithConnectorJ();
	}

}
