package io.dlock.store.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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
	 * H2's SQL states do not tell a pool that the connection is broken.
	 */
	@Test
	void connectionsToADatabaseThatWasClosedAreReplaced() throws SQLException {
		granted(acquire("a", LEASE));
		assertThatExceptionOfType(SQLException.class).as("of closing the connection")
			.isThrownBy(() -> execute("SHUTDOWN"));
		JdbcLockStore store = (JdbcLockStore) store();
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire("a", LEASE));
		Awaitility.await()
			.pollInterval(Duration.ofMillis(20))
			.ignoreExceptionsMatching((ex) -> ex instanceof StoreException && !ex.getMessage().contains("dlock_lock"))
			.untilAsserted(() -> assertThatExceptionOfType(StoreException.class).isThrownBy(store::verify)
				.withMessageMatching("(?is).*table.*dlock_lock.*missing.*"));
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
