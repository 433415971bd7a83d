package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.jdbc.dialect.LockTableUpgrade;
import io.dlock.test.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class H2MemberRowTests extends AbstractJdbcMemberRowTests {

	H2MemberRowTests() {
		super(TestDatabase.h2());
	}

	@Test
	void sweepOfManyRowsSaysThatSomeAreLeft() {
		granted(acquire("x"));
		String columns = "owner, token, acquired_at, lease_until, renewals, holder, reason, waiting";
		update("INSERT INTO %1$s (lock_key, %2$s) SELECT 'old' || n.x, %2$s FROM %1$s, SYSTEM_RANGE(1, 10001) n"
			.formatted(this.table, columns));
		update("UPDATE " + this.table + " SET lease_until = '2000-01-01 00:00:00' WHERE lock_key LIKE 'old%'");
		assertThat(this.store.sweep()).isTrue();
		assertThat(rows()).as("the lock and the row that is left").isEqualTo(2);
		assertThat(this.store.sweep()).isFalse();
		assertThat(rows()).isOne();
	}

	@Test
	void columnThatTheUserMayNotAddStaysMissing() throws SQLException {
		update("ALTER TABLE " + this.table + " DROP COLUMN members");
		String url = this.pool.getJdbcUrl().replaceFirst(";.*", "");
		update("CREATE USER reader PASSWORD 'secret'");
		update("GRANT SELECT ON " + this.table + " TO reader");
		try (Connection connection = DriverManager.getConnection(url, "reader", "secret")) {
			LockTableUpgrade.run(connection, this.table);
		}
		update("DROP USER reader");
		granted(acquire("x"));
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(() -> acquire("+a"));
	}

	private int rows() {
		return JdbcClient.create(this.pool).sql("SELECT COUNT(*) FROM " + this.table).query(Integer.class).single();
	}

}
