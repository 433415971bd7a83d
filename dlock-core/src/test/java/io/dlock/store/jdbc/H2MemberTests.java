package io.dlock.store.jdbc;

import java.util.UUID;

class H2MemberTests extends AbstractJdbcMemberTests {

	H2MemberTests() {
		super("schema-h2.sql", "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", "sa", "secret");
	}

}
