package io.dlock.fencing.jdbc;

class ConnectorJFencingGuardIntegrationTests extends MariaDbFencingGuardIntegrationTests {

	@Override
	String url() {
		return this.server.mysqlUrl();
	}

}
