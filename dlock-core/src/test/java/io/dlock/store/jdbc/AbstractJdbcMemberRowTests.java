package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoredLock;
import io.dlock.store.WaitingQueue;
import io.dlock.store.jdbc.dialect.LeaseUpdate;
import io.dlock.store.jdbc.dialect.LeaseUpdate.Holding;
import io.dlock.store.jdbc.dialect.LockTableUpgrade;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The rows of locks of members: polling, sweep, locked rows, and tables and statements of
 * earlier versions.
 */
abstract class AbstractJdbcMemberRowTests extends AbstractMemberFixture {

	AbstractJdbcMemberRowTests(TestDatabase database) {
		super(database);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "+" })
	void pollNoticesALeaseThatEndsByItself(String mode) {
		Queue<String> turns = new ConcurrentLinkedQueue<>();
		JdbcLockStore polling = store(this.pool, Patience.COMMAND, WakeUp.POLL);
		try (Mailbox opened = polling.openMailbox(this.mailbox, turns::add)) {
			assertThat(opened).isNotNull();
			granted(acquire("x"));
			refused(polling.acquire(command(this.key, mode + "y", 5, this.mailbox)));
			update("UPDATE " + this.table + " SET lease_until = '2000-01-01 00:00:00' WHERE lock_key = '" + this.key
					+ "'");
			Awaitility.await().untilAsserted(() -> assertThat(turns).containsExactly(this.key));
		}
	}

	/**
	 * The process has waited as a member before.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "", "+" })
	void pollNoticesAReservationWhileItLasts(String mode) {
		Queue<String> turns = new ConcurrentLinkedQueue<>();
		JdbcLockStore polling = store(this.pool, Patience.COMMAND, WakeUp.POLL);
		try (Mailbox opened = polling.openMailbox(this.mailbox, turns::add)) {
			assertThat(opened).isNotNull();
			granted(acquire(this.store, "+a", 1));
			refused(polling.acquire(command(this.key, "+b", 1, this.mailbox)));
			polling.leave(this.key, this.mailbox);
			refused(polling.acquire(command(this.key, mode + "y", 1, this.mailbox)));
			this.store.release(this.key, "+a");
			Awaitility.await().untilAsserted(() -> assertThat(turns).containsExactly(this.key));
			refused(acquire("z"));
		}
	}

	/**
	 * A member that has missed its place waits behind a writer.
	 */
	@Test
	void pollNoticesNoReservationThatIsOver() {
		MailboxAddress first = MailboxAddress.create(Duration.ofSeconds(9));
		MailboxAddress late = MailboxAddress.create(Duration.ofMillis(1));
		Queue<String> turns = new ConcurrentLinkedQueue<>();
		granted(acquire("x"));
		queue(WaitingQueue.entry(first, true), WaitingQueue.entry(late, true), WaitingQueue.entry(this.mailbox, false));
		this.store.release(this.key, "x");
		granted(this.store.acquire(command(this.key, "+a", AcquireCommand.UNLIMITED, first)));
		JdbcLockStore polling = Patience.connected(store(this.pool, Patience.COMMAND, WakeUp.POLL));
		refused(this.store.acquire(command(this.key, "y", 1, this.mailbox)));
		try (Mailbox opened = polling.openMailbox(late, turns::add)) {
			assertThat(opened).isNotNull();
			refused(polling.acquire(command(this.key, "+b", AcquireCommand.UNLIMITED, late)));
			Awaitility.await().pollDelay(Duration.ofMillis(300)).until(() -> true);
			assertThat(turns).isEmpty();
			this.store.release(this.key, "+a");
			granted(this.store.acquire(command(this.key, "y", 1, this.mailbox)));
			this.store.release(this.key, "y");
			Awaitility.await().untilAsserted(() -> assertThat(turns).containsExactly(this.key));
		}
	}

	/**
	 * A statement that removes many rows locks them all until its end.
	 */
	@Test
	void sweepRemovesAThousandRowsWithEachStatement() {
		granted(acquire("x"));
		String columns = "owner, token, acquired_at, lease_until, renewals, holder, reason, waiting";
		for (int i = 0; i <= 1000; i++) {
			update("INSERT INTO %1$s (lock_key, %2$s) SELECT 'old%3$d', %2$s FROM %1$s WHERE lock_key = '%4$s'"
				.formatted(this.table, columns, i, this.key));
		}
		update("UPDATE " + this.table + " SET lease_until = '2000-01-01 00:00:00' WHERE lock_key LIKE 'old%'");
		boolean more = this.store.connections()
			.execute("sweep", (dialect, connection) -> dialect.sweep(connection, Duration.ofDays(1)));
		assertThat(more).isTrue();
		assertThat(JdbcClient.create(this.pool).sql("SELECT COUNT(*) FROM " + this.table).query(Integer.class).single())
			.isEqualTo(2);
		assertThat(this.store.sweep()).isFalse();
		assertThat(this.store.inspection().list(10).locks()).hasSize(1);
	}

	@Test
	void changesThatOthersPreventAreGivenUpWithTheTimeout() {
		granted(acquire("+a"));
		JdbcLockStore losing = interrupted(() -> {
			granted(acquire("+other"));
			this.store.release(this.key, "+other");
		}, Duration.ofSeconds(1));
		congested("places are free", () -> acquire(losing, "+b", 1000));
		congested("a refusal would be a loss", () -> acquire(losing, "+a", 1000));
		assertThat(renew(losing, "+a")).isEqualTo(RenewResult.UNKNOWN);
		congested("a release", () -> losing.release(this.key, "+a"));
		congested("an exchange",
				() -> losing.acquire(new AcquireCommand(this.key, "+b", LEASE, "", "", null, false, "+a", 1000)));
		assertThat(renew(this.store, "+a")).isEqualTo(RenewResult.RENEWED);
		assertThat(renew(this.store, "+b")).isEqualTo(RenewResult.REFUSED);
	}

	/**
	 * The statements have not changed since the versions without members.
	 */
	@Test
	void statementsOfEarlierVersionsTakeRenewAndReleaseNothing() {
		granted(acquire("+a"));
		granted(acquire("+b"));
		this.store.connections().execute("try as an earlier version", (dialect, connection) -> {
			for (String owner : List.of("+a", "+b", "a", "", this.mailbox.reservationOwner())) {
				LeaseUpdate lease = LeaseUpdate.of(new Holding(this.key, owner), LEASE);
				assertThat(dialect.release(connection, this.key, owner)).isFalse();
				assertThat(dialect.keep(connection, lease)).isFalse();
				assertThat(dialect.renew(connection, lease)).isFalse();
				dialect.renew(connection, List.of(lease),
						(holding, result) -> assertThat(result).isEqualTo(RenewResult.REFUSED));
			}
			return true;
		});
		refused(this.store.acquire(command(this.key, "x", 1, this.mailbox)));
		assertThat(renew(this.store, "+a")).isEqualTo(RenewResult.RENEWED);
		assertThat(renew(this.store, "+b")).isEqualTo(RenewResult.RENEWED);
	}

	@Test
	void exclusiveOwnersNeedNoColumnOfMembers() {
		update("ALTER TABLE " + this.table + " DROP COLUMN members");
		this.store.verify();
		granted(acquire("x"));
		refused(this.store.acquire(command(this.key, "y", 1, this.mailbox)));
		assertThat(renew(this.store, "x")).isEqualTo(RenewResult.RENEWED);
		this.store.leave(this.key, this.mailbox);
		this.store.leave(this.key, this.mailbox);
		assertThat(this.store.find(this.key)).isPresent();
		StoredLock listed = this.store.inspection().list(10).locks().get(0);
		assertThat(this.store.inspection().forceRelease(this.key, listed.token() + 1)).isFalse();
		assertThat(this.store.inspection().forceRelease(this.key, listed.token())).isTrue();
		granted(acquire("x"));
		assertThat(this.store.keep(this.key, "x", LEASE)).isTrue();
		refused(acquire("y"));
		assertThat(this.store.sweep()).isFalse();
	}

	@Test
	void missingColumnIsReportedWithItsRemedyAndAdded() throws SQLException {
		update("ALTER TABLE " + this.table + " DROP COLUMN members");
		granted(acquire("x"));
		assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(() -> acquire("+a"))
			.satisfies((ex) -> assertThat(ex.description()).contains("'members'"))
			.satisfies((ex) -> assertThat(ex.action()).contains("ALTER TABLE " + this.table + " ADD COLUMN members",
					"dlock.jdbc.initialize-schema"));
		try (Connection connection = this.pool.getConnection()) {
			LockTableUpgrade.run(connection, this.table);
			LockTableUpgrade.run(connection, this.table);
		}
		refused(acquire("+a"));
		this.store.release(this.key, "x");
		granted(acquire("+a"));
		assertThat(acquire(this.store, "+b", 1)).isInstanceOf(Refused.class);
	}

	@Test
	void missingTableIsNotReportedAsAMissingColumn() {
		JdbcLockStore absent = new JdbcLockStore(this.pool,
				JdbcLockStoreSettings.defaults().withTable("no_such_table").withCommandTimeout(Patience.COMMAND));
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> acquire(absent, "+a", 1))
			.satisfies((ex) -> assertThat(ex.isPermanent()).isTrue())
			.satisfies((ex) -> assertThat(ex.getMessage()).containsIgnoringCase("no_such_table")
				.doesNotContain("column 'members'"));
		absent.close();
	}

	/**
	 * On H2 the timeout of a statement is that of its connection.
	 */
	@Test
	void checkForMissingColumnsLeavesTheTimeoutOfTheConnection() throws SQLException {
		try (Connection connection = this.pool.getConnection(); Statement next = connection.createStatement()) {
			LockTableUpgrade.run(connection, this.table);
			assertThat(next.getQueryTimeout()).isZero();
		}
	}

	@Test
	void exclusiveOwnersReadNoColumnOfMembers() {
		BoundValues seen = new BoundValues();
		JdbcLockStore observed = store(seen.observe(this.pool), Patience.COMMAND);
		granted(acquire(observed, "x", 1));
		refused(observed.acquire(command(this.key, "y", 1, this.mailbox)));
		renew(observed, "x");
		observed.leave(this.key, this.mailbox);
		observed.release(this.key, "x");
		observed.find(this.key);
		assertThat(seen.sql()).isNotEmpty().noneMatch((sql) -> sql.contains("members"));
	}

	@Test
	void memberTakesTwoStatements() {
		BoundValues seen = new BoundValues();
		JdbcLockStore observed = store(seen.observe(this.pool), Patience.COMMAND);
		granted(acquire(observed, "+a", 2));
		int first = seen.executions().size();
		granted(acquire(observed, "+b", 2));
		assertThat(seen.executions()).hasSize(first + 2);
		refused(acquire(observed, "+c", 2));
		assertThat(seen.executions()).as("a refusal writes nothing").hasSize(first + 3);
		observed.release(this.key, "+a");
		assertThat(seen.executions()).hasSize(first + 5);
	}

	/**
	 * On a busy machine the database may not answer in time.
	 */
	private static void congested(String call, ThrowingCallable callable) {
		MachineWatch
			.repeatIfLate(() -> assertThatExceptionOfType(StoreCongestedException.class).as(call).isThrownBy(callable));
	}

	@Test
	void rowOfAMemberIsLockedUntilTheTransactionEnds() throws Exception {
		granted(acquire("+a"));
		CompletableFuture<Boolean> released;
		try (Connection connection = this.pool.getConnection()) {
			connection.setAutoCommit(false);
			assertThat(this.store.lockRow(connection, this.key, "+b")).isFalse();
			assertThat(this.store.lockRow(connection, this.key, "a")).isFalse();
			assertThat(this.store.lockRow(connection, "another", "+a")).isFalse();
			assertThat(this.store.lockRow(connection, this.key, "+a")).isTrue();
			released = CompletableFuture.supplyAsync(() -> this.store.release(this.key, "+a"));
			assertThat(this.store.lockRow(connection, this.key, "+a")).isTrue();
			connection.commit();
			connection.setAutoCommit(true);
		}
		assertThat(released.get(Patience.COMMAND.toSeconds(), TimeUnit.SECONDS)).isTrue();
		try (Connection connection = this.pool.getConnection()) {
			connection.setAutoCommit(false);
			assertThat(this.store.lockRow(connection, this.key, "+a")).isFalse();
			connection.rollback();
			connection.setAutoCommit(true);
		}
	}

	@Test
	void rowOfAMemberWhoseLeaseIsOverIsThatOfTheOthers() throws SQLException {
		granted(acquire("+b"));
		granted(this.store
			.acquire(new AcquireCommand(this.key, "+a", Duration.ofMillis(50), "", "", null, false, null, 5)));
		Awaitility.await().until(() -> this.store.inspection().findAll(this.key).size() == 1);
		try (Connection connection = this.pool.getConnection()) {
			connection.setAutoCommit(false);
			assertThat(this.store.lockRow(connection, this.key, "+a")).isFalse();
			assertThat(this.store.lockRow(connection, this.key, "+b")).isTrue();
			connection.rollback();
			connection.setAutoCommit(true);
		}
	}

	private List<RenewCommand> acquireThree() {
		List<RenewCommand> renewals = Stream.of("a", "b", "c")
			.map((each) -> new RenewCommand(each, "+" + each, LEASE))
			.toList();
		renewals.forEach((each) -> granted(this.store.acquire(command(each.key(), each.owner(), 5, null))));
		return renewals;
	}

	@Test
	void lockedRowsKeepNoOtherMemberFromEveryRenewal() throws SQLException {
		JdbcLockStore impatient = Patience.connected(store(this.pool, Duration.ofSeconds(1)));
		List<RenewCommand> renewals = acquireThree();
		try (Connection connection = this.pool.getConnection()) {
			connection.setAutoCommit(false);
			assertThat(this.store.lockRow(connection, "a", "+a")).isTrue();
			assertThat(this.store.lockRow(connection, "b", "+b")).isTrue();
			Awaitility.await().until(() -> impatient.renew(renewals).get(2) == RenewResult.RENEWED);
			assertThat(impatient.renew(renewals).subList(0, 2)).isSubsetOf(RenewResult.UNKNOWN, RenewResult.NOT_SENT);
			connection.rollback();
			connection.setAutoCommit(true);
		}
	}

	@Test
	void membersForWhoseRenewalNoTimeIsLeftAreNotSent() {
		Duration timeout = Duration.ofMillis(200);
		JdbcLockStore slow = interrupted(() -> LockSupport.parkNanos(timeout.multipliedBy(2).toNanos()), timeout);
		List<RenewCommand> renewals = acquireThree();
		Awaitility.await()
			.untilAsserted(() -> assertThat(slow.renew(renewals)).containsExactlyInAnyOrder(RenewResult.RENEWED,
					RenewResult.NOT_SENT, RenewResult.NOT_SENT));
	}

	/**
	 * A renewal that is not sent is due again at once.
	 */
	@Test
	void membersWhoseRowsAreAllLockedAreUnanswered() throws SQLException {
		JdbcLockStore impatient = Patience.connected(store(this.pool, Duration.ofSeconds(1)));
		List<RenewCommand> renewals = acquireThree();
		try (Connection connection = this.pool.getConnection()) {
			connection.setAutoCommit(false);
			for (RenewCommand each : renewals) {
				assertThat(this.store.lockRow(connection, each.key(), each.owner())).isTrue();
			}
			assertThat(impatient.renew(renewals)).containsOnly(RenewResult.UNKNOWN);
			connection.rollback();
			connection.setAutoCommit(true);
		}
	}

	@Test
	void textsThatTheDatabaseDoesNotStoreAreStoredInMembers() {
		String text = "ä \uD83D\uDD12 \uD83D \u0000 ,".repeat(60);
		granted(this.store.acquire(new AcquireCommand(this.key, "+a", LEASE, text, text, null, false, null, 5)));
		granted(acquire("+b"));
		assertThat(renew(this.store, "+a")).isEqualTo(RenewResult.RENEWED);
		assertThat(this.store.inspection().list(10).locks()).extracting(StoredLock::holder)
			.anyMatch((holder) -> holder.startsWith("ä \uD83D\uDD12 ? \u0000 ,ä"));
	}

	@Test
	void recordOfMembersShowsEarlierVersionsTheLastOne() {
		granted(acquire("+a"));
		granted(acquire("+b"));
		assertThat(JdbcClient.create(this.pool)
			.sql("SELECT owner, holder FROM " + this.table)
			.query((row, number) -> row.getString(1) + " " + row.getString(2))
			.list()).containsExactly("+ holder +b");
		assertThat(this.store.inspection().list(10).locks()).hasSize(2);
	}

}
