package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class H2MemberTests extends AbstractJdbcMemberTests {

	H2MemberTests() {
		super(TestDatabase.h2());
	}

}
