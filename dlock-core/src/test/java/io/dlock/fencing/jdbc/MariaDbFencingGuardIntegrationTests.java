package io.dlock.fencing.jdbc;

import io.dlock.test.MariaDbServer;

class MariaDbFencingGuardIntegrationTests extends AbstractFencingGuardTests {

	final MariaDbServer server = MariaDbServer.shared();

	@Override
	String url() {
		return this.server.mariaDbUrl();
	}

	@Override
	String username() {
		return this.server.username();
	}

	@Override
	String password() {
		return this.server.password();
	}

	@Override
	String schema() {
		return "schema-mysql.sql";
	}

	@Override
	String cleanUp() {
		return "UNIX_TIMESTAMP";
	}

}
