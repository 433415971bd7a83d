package io.dlock.store.jdbc;

import io.dlock.test.PostgresServer;

class PostgreSqlLockStoreContractIntegrationTests extends AbstractJdbcLockStoreContractTests {

	private static final PostgresServer SERVER = PostgresServer.shared();

	PostgreSqlLockStoreContractIntegrationTests() {
		super("schema-postgresql.sql", SERVER.jdbcUrl(), SERVER.username(), SERVER.password());
	}

}
