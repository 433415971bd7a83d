package io.dlock.store.jdbc;

import java.sql.ResultSet;
import java.sql.Statement;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.jdbc.LockConnections.Work;
import io.dlock.store.jdbc.dialect.LeaseUpdate;
import io.dlock.store.jdbc.dialect.LeaseUpdate.Holding;
import io.dlock.store.jdbc.dialect.LockMembers;
import io.dlock.test.Patience;
import io.dlock.test.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

class PostgreSqlMemberIntegrationTests extends AbstractJdbcMemberTests {

	PostgreSqlMemberIntegrationTests() {
		super(TestDatabase.postgreSql());
	}

	private AcquireCommand command(String owner) {
		return new AcquireCommand(this.key, owner, LEASE, "holder", "", null, false, null, AcquireCommand.UNLIMITED);
	}

	/**
	 * Run a statement in a transaction, and tell whether its commit waits for the disk.
	 */
	private boolean isDurable(Work<Boolean> statement) {
		return this.store.connections().execute("try", (dialect, connection) -> {
			connection.setAutoCommit(false);
			try (Statement show = connection.createStatement()) {
				assertThat(statement.run(dialect, connection)).isTrue();
				try (ResultSet row = show.executeQuery("SHOW synchronous_commit")) {
					row.next();
					return row.getString(1).equals("on");
				}
			}
			finally {
				connection.setAutoCommit(true);
			}
		});
	}

	@Test
	void r39GrantsAndKeptLocksAreDurable() {
		this.store.acquire(command("+a"));
		assertThat(isDurable((dialect, connection) -> new LockMembers(dialect, connection, Patience.COMMAND)
			.acquire(command("+b")) instanceof Granted)).isTrue();
		assertThat(isDurable((dialect, connection) -> new LockMembers(dialect, connection, Patience.COMMAND)
			.release(this.key, "+b"))).as("a release need not be").isFalse();
		this.store.release(this.key, "+a");
		this.store.acquire(command("x"));
		LeaseUpdate rest = LeaseUpdate.of(new Holding(this.key, "x"), LEASE);
		assertThat(isDurable((dialect, connection) -> dialect.keep(connection, rest))).isTrue();
		assertThat(isDurable((dialect, connection) -> dialect.release(connection, this.key, LockStore.keptOwner("x"))))
			.as("a release need not be")
			.isFalse();
	}

}
