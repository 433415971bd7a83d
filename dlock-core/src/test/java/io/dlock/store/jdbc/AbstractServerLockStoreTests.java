package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.ReleaseCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.ReleaseResult;
import io.dlock.store.RenewResult;
import io.dlock.test.MachineWatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Round trips to a database server, batches of renewals, and rows that other sessions
 * have locked.
 */
abstract class AbstractServerLockStoreTests extends AbstractServerOutageTests {

	/**
	 * The number of round trips that an uncontended acquire and release may take.
	 */
	abstract int roundTrips();

	/**
	 * Use a store on connections that have other settings than the drivers' own.
	 * @param option an option of the driver
	 */
	final void assertThatLocksWorkWith(String option) {
		try (JdbcLockStore other = new JdbcLockStore(pool(this.database.with(option).url()), settings())) {
			other.verify();
			for (int i = 0; i < 2; i++) {
				AcquireCommand command = new AcquireCommand(key(), "a" + i, LEASE, "it's \\", "\\' \"");
				granted(other.acquire(command));
				assertThat(other.acquire(command("b"))).isInstanceOf(Refused.class);
				assertThat(other.find(key())).hasValueSatisfying((lock) -> {
					assertThat(lock.holder()).isEqualTo(command.holder());
					assertThat(lock.reason()).isEqualTo(command.reason());
				});
				assertThat(other.renew(
						List.of(new RenewCommand(key(), command.owner(), LEASE), new RenewCommand(key(), "b", LEASE))))
					.containsExactly(RenewResult.RENEWED, RenewResult.REFUSED);
				assertThat(other.release(key(), command.owner())).isTrue();
			}
			List<String> keys = List.of(key() + "/1", key() + "/2");
			assertThat(other
				.acquireAll(keys.stream().map((key) -> new AcquireCommand(key, "set", LEASE, "holder", "")).toList()))
				.allMatch(Granted.class::isInstance);
			assertThat(other.renew(keys.stream().map((key) -> new RenewCommand(key, "set", LEASE)).toList()))
				.containsOnly(RenewResult.RENEWED);
			assertThat(other.releaseAll(keys.stream().map((key) -> new ReleaseCommand(key, "set")).toList()))
				.containsOnly(ReleaseResult.RELEASED);
			granted(other.acquire(new AcquireCommand(key(), "+a", LEASE, "holder", "")));
			assertThat(other.renew(List.of(new RenewCommand(key(), "+a", LEASE)))).containsExactly(RenewResult.RENEWED);
			assertThat(other.release(key(), "+a")).isTrue();
			other.connections()
				.execute("end sessions", (dialect, connection) -> dialect.endSessions(connection, List.of("0 none")));
		}
	}

	/**
	 * On a busy machine a connection is idle for so long that it is tried before its next
	 * use.
	 */
	@Test
	void uncontendedAcquireAndReleaseTakeFewRoundTrips() {
		for (int i = 0; i < 20; i++) {
			this.behindProxy.acquire(command("warm-up"));
			this.behindProxy.release(key(), "warm-up");
		}
		MachineWatch.repeatIfLate(() -> {
			awaitSilence();
			this.proxy.resetCounters();
			for (int i = 0; i < 10; i++) {
				granted(this.behindProxy.acquire(command("a")));
				assertThat(this.behindProxy.release(key(), "a")).isTrue();
			}
			assertThat(this.proxy.roundTrips()).isEqualTo(10L * roundTrips());
		});
	}

	/**
	 * The replies are held back, so that a client that waits for one is noticed.
	 */
	@Test
	void tenThousandLeasesAreRenewedInAFewRoundTrips() {
		List<RenewCommand> batch = IntStream.range(0, 10_000)
			.mapToObj((i) -> new RenewCommand(key() + "/" + i, "a", LEASE))
			.toList();
		this.behindProxy.renew(batch.subList(0, 1));
		awaitSilence();
		this.proxy.delayReplies(Duration.ofMillis(20));
		this.proxy.resetCounters();
		assertThat(this.behindProxy.renew(batch)).hasSize(10_000).containsOnly(RenewResult.REFUSED);
		assertThat(this.proxy.roundTrips()).isLessThanOrEqualTo(20);
	}

	/**
	 * A refused lease is not asked for again on its own: not if there is no such key, and
	 * not if it was released, is over, or another owner took it.
	 */
	@Test
	void leasesThatAreRefusedForAnyReasonAreAnsweredWithTheOthers() {
		List<RenewCommand> batch = new ArrayList<>();
		List<RenewResult> expected = new ArrayList<>();
		for (int i = 0; i < 40; i++) {
			AcquireCommand first = new AcquireCommand(key() + "/" + i, "a", (i % 4 == 1) ? Duration.ofMillis(1) : LEASE,
					"holder", "");
			granted(store().acquire(first));
			if (i % 4 > 1) {
				store().release(first.key(), "a");
			}
			if (i % 4 == 3) {
				granted(store().acquire(new AcquireCommand(first.key(), "successor", LEASE, "holder", "")));
			}
			batch.add(new RenewCommand(first.key(), "a", LEASE));
			expected.add((i % 4 == 0) ? RenewResult.RENEWED : RenewResult.REFUSED);
		}
		Awaitility.await().until(() -> store().find(key() + "/37").isEmpty());
		MachineWatch.repeatIfLate(() -> {
			awaitSilence();
			this.proxy.resetCounters();
			assertThat(this.behindProxy.renew(batch)).isEqualTo(expected);
			assertThat(this.proxy.roundTrips()).isLessThanOrEqualTo(3);
		});
	}

	/**
	 * A person's forgotten transaction is one lock's problem and not that of all.
	 */
	@Test
	void r34RowThatAnotherSessionHasLockedHoldsUpItsOwnRenewalOnly() throws SQLException {
		List<RenewCommand> batch = IntStream.range(0, 50)
			.mapToObj((i) -> new RenewCommand(key() + "/" + i, "a", Duration.ofMinutes(1)))
			.toList();
		batch.forEach((lease) -> granted(store().acquire(new AcquireCommand(lease.key(), "a", LEASE, "holder", ""))));
		try (JdbcLockStore impatient = impatientStore(application());
				Connection blocker = application().getConnection();
				Statement statement = blocker.createStatement()) {
			Awaitility.await()
				.untilAsserted(() -> assertThat(impatient.renew(batch)).containsOnly(RenewResult.RENEWED));
			blocker.setAutoCommit(false);
			statement.executeQuery("SELECT * FROM dlock_lock WHERE lock_key = '" + key() + "/7' FOR UPDATE").close();
			MachineWatch.repeatIfLate(() -> {
				List<RenewResult> results = impatient.renew(batch);
				assertThat(results.get(7)).isEqualTo(RenewResult.UNKNOWN);
				assertThat(results).filteredOn((result) -> result == RenewResult.RENEWED).hasSize(49);
			});
			blocker.rollback();
		}
		assertThat(store().renew(batch)).hasSize(50).containsOnly(RenewResult.RENEWED);
	}

	/**
	 * A row that is locked for a moment is waited for.
	 */
	@Test
	void rowThatIsLockedForAMomentIsRenewedAllTheSame() throws Exception {
		granted(acquire("a", LEASE));
		try (Connection blocker = application().getConnection(); Statement statement = blocker.createStatement()) {
			blocker.setAutoCommit(false);
			statement.executeQuery("SELECT * FROM dlock_lock WHERE lock_key = '" + key() + "' FOR UPDATE").close();
			CompletableFuture<RenewResult> renewed = CompletableFuture.supplyAsync(() -> renew("a", LEASE));
			assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> renewed.get(300, TimeUnit.MILLISECONDS));
			blocker.commit();
			assertThat(renewed.get()).isEqualTo(RenewResult.RENEWED);
		}
	}

}
