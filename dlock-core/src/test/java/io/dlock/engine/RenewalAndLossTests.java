package io.dlock.engine;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Renewals and losses of leases.
 */
class RenewalAndLossTests extends AbstractLeaseLockRegistryTests {

	RenewalAndLossTests() {
		super(SHORT_COMMAND_TIMEOUT);
	}

	@Test
	void leaseIsRenewedWhileTheLockIsHeld() {
		LockHandle handle = this.registry.acquire(request("key", RENEWED_LEASE, Duration.ZERO));
		Awaitility.await().atMost(Patience.EVENTUALLY).until(() -> this.store.renewals.get() >= 4);
		assertThat(handle.isValid()).isTrue();
		assertThat(isFreeInStore("key")).isFalse();
		handle.release();
	}

	@Test
	void lockWithoutRenewalIsLostAtItsDeadline() {
		LockRequest request = LockRequest.builder("key").lease(Duration.ofMillis(300)).renew(false).build();
		LockHandle handle = this.registry.acquire(request);
		List<LockHandle> told = Collections.synchronizedList(new ArrayList<>());
		handle.onLost(told::add);
		Awaitility.await().until(() -> !told.isEmpty());
		assertThat(told).containsExactly(handle);
		assertThat(handle.isValid()).isFalse();
		assertThat(this.store.renewals).hasValue(0);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::assertHeld);
		LockLostException ex = catchThrowableOfType(LockLostException.class, handle::release);
		assertThat(ex).hasMessageContaining("'key'").hasMessageContaining("300 ms");
		assertThat(ex.token()).isEqualTo(handle.token());
		handle.release();
	}

	@Test
	void r9LossIsThrownAfterASuccessfulBody() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.registry
			.execute(LockRequest.builder("key").lease(Duration.ofMillis(200)).renew(false).build(), (handle) -> {
				Awaitility.await().until(() -> !handle.isValid());
				return "done";
			}));
	}

	@Test
	void r9LossIsSuppressedByTheFailureOfTheBody() {
		IllegalStateException ex = catchThrowableOfType(IllegalStateException.class, () -> this.registry
			.execute(LockRequest.builder("key").lease(Duration.ofMillis(200)).renew(false).build(), (handle) -> {
				Awaitility.await().until(() -> !handle.isValid());
				throw new IllegalStateException("of the body");
			}));
		assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
	}

	/**
	 * As {@link FailedRenewalTests#b14RenewalSurvivesAnErrorOfThisProcess}, by the alarm
	 * of the leases.
	 */
	@Test
	void b14ErrorOfThisProcessLeavesTheAlarmOfTheLeases() {
		AtomicInteger readings = new AtomicInteger();
		AtomicInteger failing = new AtomicInteger();
		MachineClock clock = new MachineClock() {

			@Override
			public long nanoTime() {
				if (Thread.currentThread().getName().startsWith("dlock-renewal")
						&& readings.incrementAndGet() == failing.get()) {
					throw new NoClassDefFoundError("an error of this process");
				}
				return MachineClock.SYSTEM.nanoTime();
			}

			@Override
			public long wallMillis() {
				return MachineClock.SYSTEM.wallMillis();
			}

		};
		try (LeaseLockRegistry real = new LeaseLockRegistry(this.store, this.settings, clock)) {
			LockHandle handle = real.acquireAsync(request("key", RENEWED_LEASE, LEASE)).join();
			for (int reading = 1; reading < 8; reading++) {
				failing.set(reading);
				readings.set(0);
				Awaitility.await().until(() -> readings.get() > failing.get());
				Awaitility.await()
					.until(() -> handle.remaining().compareTo(RENEWED_LEASE.dividedBy(4).multipliedBy(3)) > 0);
			}
			handle.release();
		}
	}

	@Test
	void leaseBesideALongerOneIsRenewedInTime() {
		LockHandle longer = this.registry.acquire(request("longer", Duration.ofMinutes(10), Duration.ZERO));
		LockHandle handle = this.registry.acquire(request("key", RENEWED_LEASE, Duration.ZERO));
		Awaitility.await().until(() -> this.store.renewals.get() >= 1);
		assertThat(handle.isValid()).isTrue();
		handle.release();
		longer.release();
	}

	@Test
	void leaseOfTheRequestIsTheLeaseInTheStore() {
		LockHandle handle = this.registry.acquire(request("key", Duration.ofSeconds(7), Duration.ZERO));
		assertThat(handle.remaining()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(7));
		assertThat(this.registry.find("key"))
			.hasValueSatisfying((info) -> assertThat(Duration.between(info.since(), info.until()))
				.isBetween(Duration.ofSeconds(6), Duration.ofSeconds(8)));
		handle.release();
	}

	@Test
	void b3ReleaseAtOnceAfterAcquireLeavesNoRenewal() {
		for (int i = 0; i < 20_000; i++) {
			this.registry.acquire(noWait("key")).release();
		}
		assertThat(this.registry.renewer().size()).isZero();
		assertThat(this.store.renewals).hasValue(0);
	}

	@Test
	void b20LossFreesTheLocalQueueForOtherThreads() throws Exception {
		LockHandle lost = this.registry
			.acquire(LockRequest.builder("key").lease(Duration.ofMillis(300)).renew(false).build());
		LockHandle next = inOtherThread(() -> this.registry.acquire(request("key", LEASE, Duration.ofSeconds(20))))
			.get();
		assertThat(next.isValid()).isTrue();
		assertThat(lost.isValid()).isFalse();
		assertThat(next.token()).isGreaterThan(lost.token());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::release);
		assertThat(next.isValid()).as("the late release frees nothing").isTrue();
		assertThat(isFreeInStore("key")).isFalse();
		next.release();
	}

	@Test
	void r10b8LostHandleKeepsItsToken() throws Exception {
		LockHandle lost = this.registry
			.acquire(LockRequest.builder("key").lease(Duration.ofMillis(300)).renew(false).build());
		long token = lost.token();
		LockHandle next = inOtherThread(() -> this.registry.acquire(request("key", LEASE, Duration.ofSeconds(20))))
			.get();
		assertThat(lost.token()).isEqualTo(token).isLessThan(next.token());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::release);
		next.release();
	}

	/**
	 * The resource stops a holder that does not know of its loss yet.
	 */
	@Test
	void r15FencedResourceRefusesALateWrite() throws Exception {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL("jdbc:h2:mem:fenced-resource;DB_CLOSE_DELAY=-1");
		try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute("CREATE TABLE account (balance INT, fence BIGINT)");
			statement.execute("INSERT INTO account VALUES (100, 0)");
			String write = "UPDATE account SET balance = %d, fence = %d WHERE fence <= %2$d";
			LockHandle late = this.registry
				.acquire(LockRequest.builder("key").lease(Duration.ofMillis(250)).renew(false).build());
			LockHandle successor = inOtherThread(
					() -> this.registry.acquire(request("key", LEASE, Duration.ofSeconds(20))))
				.get();
			assertThat(statement.executeUpdate(write.formatted(90, successor.token()))).isEqualTo(1);
			assertThat(statement.executeUpdate(write.formatted(50, late.token()))).as("the stale write").isZero();
			assertThat(statement.executeUpdate(write.formatted(80, successor.token()))).isEqualTo(1);
			successor.release();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(late::release);
		}
	}

	@Test
	void reentrantRequestAfterLossIsLost() {
		LockHandle lost = this.registry
			.acquire(LockRequest.builder("key").lease(Duration.ofMillis(250)).renew(false).build());
		Awaitility.await().until(() -> !lost.isValid());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.registry.acquire(noWait("key")));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::release);
		this.registry.acquire(request("key", LEASE, Duration.ofSeconds(5))).release();
	}

}
