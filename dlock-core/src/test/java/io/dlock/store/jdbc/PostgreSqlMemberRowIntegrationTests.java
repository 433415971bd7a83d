package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class PostgreSqlMemberRowIntegrationTests extends AbstractJdbcMemberRowTests {

	PostgreSqlMemberRowIntegrationTests() {
		super(TestDatabase.postgreSql());
	}

}
