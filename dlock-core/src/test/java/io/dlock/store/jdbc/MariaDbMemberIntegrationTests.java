package io.dlock.store.jdbc;

import io.dlock.test.MariaDbServer;

class MariaDbMemberIntegrationTests extends AbstractJdbcMemberTests {

	private static final MariaDbServer SERVER = MariaDbServer.shared();

	MariaDbMemberIntegrationTests() {
		super("schema-mysql.sql", SERVER.mariaDbUrl(), SERVER.username(), SERVER.password());
	}

}
