package io.dlock.store.jdbc;

import io.dlock.test.PostgresServer;

class PostgreSqlMemberIntegrationTests extends AbstractJdbcMemberTests {

	private static final PostgresServer SERVER = PostgresServer.shared();

	PostgreSqlMemberIntegrationTests() {
		super("schema-postgresql.sql", SERVER.jdbcUrl(), SERVER.username(), SERVER.password());
	}

}
