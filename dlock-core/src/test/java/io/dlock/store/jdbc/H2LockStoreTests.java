package io.dlock.store.jdbc;

import java.sql.SQLException;
import java.util.UUID;

import org.junit.jupiter.api.Test;

import io.dlock.store.LockStore.AcquireCommand;

import static org.assertj.core.api.Assertions.assertThat;

class H2LockStoreTests extends AbstractJdbcLockStoreTests {

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
	void makeRowsOld() throws SQLException {
		execute("UPDATE dlock_lock SET lease_until = DATEADD('DAY', -2, lease_until)");
	}

	/**
	 * H2 runs in this process, where a round trip is a statement.
	 */
	@Test
	void acquireAndReleaseAreTwoStatements() {
		BoundValues observed = new BoundValues();
		JdbcLockStore store = new JdbcLockStore(observed.observe(application()), settings().withPoolSize(0));
		for (int i = 0; i < 10; i++) {
			granted(store.acquire(new AcquireCommand(key() + (i % 2), "a", LEASE, "holder", "")));
			assertThat(store.release(key() + (i % 2), "a")).isTrue();
		}
		assertThat(observed.executions()).hasSize(20);
	}

}
