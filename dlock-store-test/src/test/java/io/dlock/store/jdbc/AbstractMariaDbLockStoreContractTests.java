package io.dlock.store.jdbc;

import io.dlock.test.MariaDbServer;

/**
 * The contract on MariaDB, for both drivers and both meanings of an update count.
 */
abstract class AbstractMariaDbLockStoreContractTests extends AbstractJdbcLockStoreContractTests {

	static final MariaDbServer SERVER = MariaDbServer.shared();

	AbstractMariaDbLockStoreContractTests(String url, boolean affectedRows) {
		super("schema-mysql.sql", url + (url.contains("?") ? "&" : "?") + "useAffectedRows=" + affectedRows,
				SERVER.username(), SERVER.password());
	}

}
