package io.dlock.store.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.Quarantine;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.test.TcpProxy;
import io.dlock.test.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The quarantine after real promotions and restarts of real servers.
 */
class PostgreSqlQuarantineIntegrationTests extends AbstractPostgreSqlQuarantineTests {

	/**
	 * A holder renews its lock on the new primary, and its lease is over on the former
	 * one, which would grant the lock.
	 */
	@Test
	void formerPrimaryThatMayAnswerIsRefused() {
		try (JdbcLockStore careless = new JdbcLockStore(this.pool,
				settings(LEASE).withQuarantine(new Quarantine(LEASE, Duration.ofMillis(1))))) {
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(careless::verify)
				.withMessageContaining("for another 1 ms")
				.satisfies((ex) -> assertThat(ex.action()).contains("dlock.failover.max-lag=0s"));
		}
	}

	/**
	 * The standby is promoted on the connections of its clients, and has nothing that the
	 * primary answered since the network between the two was cut: neither locks nor, for
	 * table {@code late}, the note. The locks have leases that no pause of the machine
	 * ends, which a store with a quarantine would refuse.
	 */
	@Test
	void promotedStandbyGrantsNoLockThatTheFormerPrimaryGranted() throws SQLException {
		try (PostgresServer primary = PostgresServer.start();
				TcpProxy replication = TcpProxy.to(primary.host(), primary.port());
				HikariDataSource before = Pools.create(primary)) {
			Pools.createLockTable(before, "postgresql");
			JdbcClient.create(before).sql("CREATE TABLE late (LIKE dlock_lock INCLUDING ALL)").update();
			try (PostgresServer standby = primary.startStandby(replication.port(), Map.of());
					HikariDataSource after = Pools.create(standby);
					JdbcLockStore former = connected(before, LEASE);
					JdbcLockStore promoted = store(after, LEASE);
					JdbcLockStore holder = careless(before);
					JdbcLockStore careless = careless(after)) {
				grantedAtLast(former, "first", "first");
				granted(holder, lasting("known", "known"));
				granted(holder, lasting("shared", "+known"));
				Awaitility.await()
					.untilAsserted(() -> assertThat(promoted.find("shared")).as("before the promotion").isPresent());
				replication.close();
				for (String forgotten : List.of("b", "+c")) {
					granted(former, forgotten, forgotten);
				}
				granted(holder, lasting("a", "a"));
				long granted = System.nanoTime();
				JdbcClient.create(after).sql("SELECT pg_promote()").query().singleRow();
				granted(careless, "a", "without a quarantine");
				assertThat(former.renew(List.of(new RenewCommand("a", "a", LEASE)))).as("granted twice")
					.containsExactly(RenewResult.RENEWED);
				quarantined(promoted, "b", "b2");
				quarantined(promoted, "+c", "+c2");
				quarantined(promoted, "known", "known");
				assertThat(JdbcClient.create(after)
					.sql("SELECT holder FROM dlock_lock" + NOTE)
					.query(String.class)
					.single()).as("the era").startsWith("00000002 ");
				try (JdbcLockStore late = new JdbcLockStore(after, settings(LONG).withTable("late"))) {
					quarantined(late, "a", "a2");
				}
				assertThat(promoted.renew(List.of(new RenewCommand("known", "known", LONG),
						new RenewCommand("shared", "+known", LONG), new RenewCommand("b", "b", LONG))))
					.containsExactly(RenewResult.RENEWED, RenewResult.RENEWED, RenewResult.REFUSED);
				assertThat(promoted.release("known", "known")).isTrue();
				assertThat(promoted.release("shared", "+known")).isTrue();
				grantedAtLast(promoted, "b", "b2");
				assertThat(System.nanoTime() - granted).isGreaterThan(LEASE.toNanos());
			}
		}
	}

	/**
	 * A copy of its files may be started without a promotion, and a disk may forget.
	 */
	@Test
	void restartedServerGrantsNoLock() {
		try (PostgresServer server = PostgresServer.start(); HikariDataSource client = Pools.create(server)) {
			Pools.createLockTable(client, "postgresql");
			try (JdbcLockStore restarted = connected(client, LEASE)) {
				grantedAtLast(restarted, "a", "a");
				server.kill();
				server.restart();
				Awaitility.await().untilAsserted(() -> quarantined(restarted, "b", "b"));
				grantedAtLast(restarted, "b", "b");
			}
		}
	}

	/**
	 * A note that came with the data of another server, an old one, and none.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "UPDATE dlock_lock SET holder = '0' || substr(holder, 1, 7) || substr(holder, 9)",
			"UPDATE dlock_lock SET holder = holder || '1'", "DELETE FROM dlock_lock" })
	void noteOfAnotherHistoryBeginsAQuarantine(String change) {
		start(LONG);
		update("UPDATE dlock_lock SET token = 0" + NOTE);
		granted(this.store, lasting("a", "a"));
		update(change + NOTE);
		quarantined(this.store, "b", "b");
		quarantined(this.store, "a", "a");
		assertThat(this.store.renew(List.of(new RenewCommand("a", "a", LONG)))).containsExactly(RenewResult.RENEWED);
	}

	private static AcquireCommand lasting(String key, String owner) {
		return new AcquireCommand(key, owner, LONG, "holder", "");
	}

	@ParameterizedTest
	@ValueSource(strings = { "+a", "b" })
	void noKindOfOwnerIsGranted(String owner) {
		start(LONG);
		String other = owner.startsWith("+") ? "exclusive" : "+shared";
		Quarantine none = null;
		try (JdbcLockStore free = new JdbcLockStore(this.pool, settings(LONG).withQuarantine(none))) {
			granted(free, lasting("taken", other));
			granted(free, lasting("own", owner));
			quarantined(this.store, "free", owner);
			quarantined(this.store, "taken", owner);
			quarantined(this.store, "own", owner);
			quarantined(this.store, new AcquireCommand("taken", owner, LEASE, "holder", "", null, false, other, 1));
			assertThat(free.find("free")).isEmpty();
			assertThat(free.find("own")).isPresent();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "+a", "b" })
	void lockThatIsKnownEndsAndItsQueueIsLeftInAQuarantine(String owner) {
		start(LONG);
		MailboxAddress mailbox = MailboxAddress.create(Duration.ofSeconds(9));
		Quarantine none = null;
		try (JdbcLockStore free = new JdbcLockStore(this.pool, settings(LONG).withQuarantine(none))) {
			granted(free, lasting("known", owner));
			assertThat(free.acquire(new AcquireCommand("known", "c", LEASE, "holder", "", mailbox, true, null)))
				.isInstanceOf(AcquireResult.Refused.class);
			quarantined(this.store, "known", "c");
			this.store.leave("known", mailbox);
			long token = free.find("known").orElseThrow().token();
			assertThat(this.store.inspection().forceRelease("known", token)).isTrue();
			granted(free, "known", "d");
		}
	}

	@Test
	void severalKeysAreNotGranted() {
		start(LONG);
		this.store.sweep();
		assertThat(this.store.supportsBatches()).isTrue();
		assertThat(this.store.acquireAll(List.of(command("a", "a"), command("b", "b")))).hasSize(2)
			.allSatisfy((result) -> assertThat(result).isInstanceOfSatisfying(AcquireResult.Failed.class,
					(failed) -> assertThat(failed.failure()).isInstanceOf(StoreQuarantinedException.class)));
		update("UPDATE dlock_lock SET token = 0" + NOTE);
		granted(this.store, "b", "other");
		assertThat(this.store.acquireAll(List.of(command("a", "a"), command("b", "b"), command("c", "c"))))
			.hasExactlyElementsOfTypes(AcquireResult.Granted.class, AcquireResult.Refused.class,
					AcquireResult.Granted.class);
	}

	@Test
	void parametersWithoutATypeAreTaken() {
		start(LONG);
		update("UPDATE dlock_lock SET token = 0" + NOTE);
		TestDatabase untyped = TestDatabase.postgreSql().with("stringtype=unspecified");
		try (HikariDataSource client = untyped.pool(); JdbcLockStore free = store(client, LONG)) {
			granted(free, "a", "a");
			granted(free, "b", "+b");
			granted(free, "b", "+b");
			assertThat(free.acquireAll(List.of(command("c", "c"), command("d", "d"))))
				.hasOnlyElementsOfType(AcquireResult.Granted.class);
		}
	}

	/**
	 * As behind a pooler that leads the next statement to another server.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void memberIsNotGrantedIfTheHistoryChangesAfterTheRecordWasRead(boolean exists) {
		start(LONG);
		update("UPDATE dlock_lock SET token = 0" + NOTE);
		if (exists) {
			granted(this.store, "a", "+a");
		}
		try (JdbcLockStore racing = store(
				new RacingDataSource(this.pool, () -> update("UPDATE dlock_lock SET holder = ''" + NOTE)), LONG)) {
			quarantined(racing,
					new AcquireCommand("a", "+b", LEASE, "holder", "", null, false, null, AcquireCommand.UNLIMITED));
		}
		assertThat(this.store.find("a").isPresent()).isEqualTo(exists);
	}

}
