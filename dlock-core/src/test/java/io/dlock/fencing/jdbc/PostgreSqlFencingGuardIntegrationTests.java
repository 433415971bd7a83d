package io.dlock.fencing.jdbc;

import io.dlock.test.PostgresServer;

class PostgreSqlFencingGuardIntegrationTests extends AbstractFencingGuardTests {

	private final PostgresServer server = PostgresServer.shared();

	@Override
	String url() {
		return this.server.jdbcUrl();
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
		return "schema-postgresql.sql";
	}

	@Override
	String cleanUp() {
		return "interval ";
	}

}
