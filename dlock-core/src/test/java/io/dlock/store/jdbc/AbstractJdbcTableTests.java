package io.dlock.store.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreException;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.jdbc.dialect.LockTableUpgrade;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * A store of a database, whose table is checked and swept.
 */
abstract class AbstractJdbcTableTests extends AbstractJdbcStoreTests {

	/**
	 * Move the ends of all leases, as if the clock of the server had been set.
	 */
	abstract void moveLeases(int days) throws SQLException;

	@Test
	void missingTableIsNamedWithItsRemedy() {
		JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("no_such_table"));
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify).satisfies((ex) -> {
			assertThat(ex.description()).contains("no_such_table");
			assertThat(ex.action()).contains("schema-", "dlock.jdbc.initialize-schema");
		});
		assertThatExceptionOfType(StoreException.class)
			.isThrownBy(() -> store.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")))
			.satisfies((ex) -> assertThat(ex.isPermanent()).isTrue());
		store.close();
	}

	@Test
	void tableWithOtherColumnsIsNamed() throws SQLException {
		execute("DROP TABLE IF EXISTS dlock_old");
		execute("CREATE TABLE dlock_old (lock_key VARCHAR(100) PRIMARY KEY, owner VARCHAR(64))");
		JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("dlock_old"));
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
			.withMessageContaining("dlock_old");
		store.close();
	}

	@Test
	void tableWithoutQueuesIsNamedWithItsRemedy() throws SQLException {
		execute("DROP TABLE IF EXISTS dlock_without_queues");
		execute(script("dlock_without_queues"));
		execute("ALTER TABLE dlock_without_queues DROP COLUMN waiting");
		JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("dlock_without_queues"));
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify).satisfies((ex) -> {
			assertThat(ex.description()).contains("dlock_without_queues").containsIgnoringCase("waiting");
			assertThat(ex.action()).contains("schema-");
		});
		store.close();
	}

	private String script(String table) {
		try {
			return new ClassPathResource(this.database.script(), JdbcLockStore.class)
				.getContentAsString(StandardCharsets.UTF_8)
				.replace("dlock_lock", table);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The table is refused at start-up, and not with the first long key or reason.
	 */
	@Test
	void tableWithAColumnThatIsTooShortIsRefused() throws SQLException {
		Map<String, Integer> lengths = Map.of("lock_key", 512, "owner", 32, "holder", 255, "reason", 255);
		for (Entry<String, Integer> length : lengths.entrySet()) {
			String column = length.getKey();
			int tooShort = length.getValue() - 1;
			execute("DROP TABLE IF EXISTS dlock_short");
			execute(script("dlock_short").replaceAll("(" + column + " +\\w+)\\(\\d+\\)", "$1(" + tooShort + ")"));
			try (JdbcLockStore store = new JdbcLockStore(application(),
					settings().withTable("dlock_short").withPoolSize(0))) {
				assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
					.withMessageContaining("The column %s of the lock table 'dlock_short' has room for %d characters",
							column, tooShort);
			}
		}
	}

	/**
	 * A queue of an earlier version had room for fewer processes.
	 */
	@Test
	void tableOfAnEarlierVersionIsRefusedWithItsRemedyAndUpgraded() throws SQLException {
		String table = "dlock_with_a_short_queue";
		AcquireCommand command = new AcquireCommand(key(), "a", LEASE, "holder", "");
		execute("DROP TABLE IF EXISTS " + table);
		execute(script(table).replaceAll("(waiting +)(\\w+)(\\(\\d+\\))?", "$1VARCHAR(4096)"));
		try (JdbcLockStore store = new JdbcLockStore(application(), settings().withTable(table))) {
			for (ThrowingCallable use : List.<ThrowingCallable>of(store::verify, () -> store.acquire(command))) {
				StoreMisconfiguredException refusal = catchThrowableOfType(StoreMisconfiguredException.class, use);
				assertThat(refusal).hasMessageContaining("The column waiting of the lock table '%s' has room for 4096",
						table);
				assertThat(refusal.action()).containsPattern("or ALTER TABLE " + table + " \\w+ COLUMN waiting");
			}
			upgrade(table);
			upgrade(table);
			granted(store.acquire(command));
			store.verify();
		}
	}

	/**
	 * As often as the driver needs to prepare the statement.
	 */
	@Test
	void tableIsWidenedUnderAnInstanceThatRuns() throws SQLException {
		String table = "dlock_that_is_widened";
		execute("DROP TABLE IF EXISTS " + table);
		execute(script(table));
		try (JdbcLockStore store = new JdbcLockStore(application(), settings().withTable(table))) {
			store.verify();
			execute("DROP TABLE " + table);
			execute(script(table).replaceAll("(waiting +)(\\w+)(\\(\\d+\\))?", "$1VARCHAR(4096)"));
			granted(store.acquire(new AcquireCommand(key(), "a", LEASE, "holder", "")));
			AcquireCommand next = new AcquireCommand(key(), "b", LEASE, "holder", "");
			for (int i = 0; i < 10; i++) {
				assertThat(store.acquire(next)).isInstanceOf(Refused.class);
			}
			upgrade(table);
			assertThat(store.acquire(next)).isInstanceOf(Refused.class);
			assertThat(store.release(key(), "a")).isTrue();
			store.verify();
		}
	}

	private void upgrade(String table) throws SQLException {
		try (Connection connection = application().getConnection()) {
			connection.setAutoCommit(true);
			LockTableUpgrade.run(connection, table);
		}
	}

	@Test
	void queueHasTenThousandPlaces() throws SQLException {
		MailboxAddress first = MailboxAddress.create(Duration.ofSeconds(9));
		MailboxAddress second = MailboxAddress.create(Duration.ofSeconds(9));
		granted(acquire("a", LEASE));
		try (Connection connection = application().getConnection();
				PreparedStatement statement = connection
					.prepareStatement("UPDATE dlock_lock SET waiting = ? WHERE lock_key = ?")) {
			connection.setAutoCommit(true);
			statement.setString(1, crowd(9_999));
			statement.setString(2, StorageKey.of(key()));
			assertThat(statement.executeUpdate()).isEqualTo(1);
		}
		assertThat(place("b", first)).as("the last place").isEqualTo(9_999);
		assertThat(place("c", second)).as("of a queue that is full").isEqualTo(-1);
		assertThat(store().release(key(), "a")).isTrue();
		assertThat(place("c", second)).as("the place that became free").isEqualTo(9_999);
	}

	private static String crowd(int processes) {
		return IntStream.range(0, processes).mapToObj("9000%012d "::formatted).collect(Collectors.joining());
	}

	private int place(String owner, MailboxAddress mailbox) {
		AcquireCommand command = new AcquireCommand(key(), owner, LEASE, "holder", "", mailbox, true, null);
		return ((Refused) store().acquire(command)).place();
	}

	/**
	 * A lease that is rounded ends before its holder thinks.
	 */
	@Test
	void r41TableThatRoundsTheTimesIsRefused() throws Exception {
		String script = script("dlock_rounded").replaceAll("(TIMESTAMP|DATETIME)(\\(6\\))?( WITH TIME ZONE)?",
				"$1(0)$3");
		execute("DROP TABLE IF EXISTS dlock_rounded");
		execute(script);
		JdbcLockStore store = new JdbcLockStore(application(), settings().withTable("dlock_rounded"));
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
			.withMessageContaining("microseconds");
		store.close();
	}

	@Test
	void sweepRemovesRowsAfterTheRetentionOnly() throws SQLException {
		execute("DELETE FROM dlock_lock");
		acquire("a", LEASE);
		store().acquire(new AcquireCommand(key() + "/free", "a", LEASE, "holder", ""));
		store().release(key() + "/free", "a");
		store().sweep();
		assertThat(rows()).isEqualTo(2);
		moveLeases(-2);
		store().sweep();
		assertThat(rows()).isZero();
	}

	/**
	 * The clock was ahead when a token was minted, and has been corrected since.
	 */
	@Test
	void r13SweepKeepsATokenThatIsAheadOfTheClock() throws SQLException {
		long ahead = 4_000_000_000_000_000L;
		acquire("a", LEASE);
		execute("UPDATE dlock_lock SET token = " + ahead);
		store().release(key(), "a");
		moveLeases(-2);
		store().sweep();
		assertThat(acquire("b", LEASE)).isInstanceOfSatisfying(Granted.class,
				(granted) -> assertThat(granted.token()).isGreaterThan(ahead));
	}

	private int rows() throws SQLException {
		try (Connection connection = application().getConnection();
				Statement statement = connection.createStatement();
				var result = statement.executeQuery("SELECT COUNT(*) FROM dlock_lock")) {
			result.next();
			return result.getInt(1);
		}
	}

}
