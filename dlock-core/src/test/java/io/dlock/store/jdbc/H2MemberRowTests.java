package io.dlock.store.jdbc;

import io.dlock.test.TestDatabase;

class H2MemberRowTests extends AbstractJdbcMemberRowTests {

	H2MemberRowTests() {
		super(TestDatabase.h2());
	}

}
