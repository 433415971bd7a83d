package io.dlock.fencing.jdbc;

import java.util.UUID;

class H2FencingGuardTests extends AbstractFencingGuardTests {

	private final String database = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	@Override
	String url() {
		return this.database;
	}

	@Override
	String username() {
		return "sa";
	}

	@Override
	String password() {
		return "secret";
	}

	@Override
	String schema() {
		return "schema-h2.sql";
	}

	@Override
	String cleanUp() {
		return "DATEADD";
	}

}
