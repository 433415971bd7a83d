package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.LeaseInternals;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Leases whose clock steps, stands still or fails.
 */
class LeaseClockTests extends AbstractLeaseLockRegistryTests {

	LeaseClockTests() {
		super(SHORT_COMMAND_TIMEOUT);
	}

	@Test
	void lockLostInTheMiddleOfAnAssertionIsNotCalledReleased() {
		Thread holder = Thread.currentThread();
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry turned = new LeaseLockRegistry(this.store, this.settings, clock);
		for (int last = 1; last <= 8; last++) {
			LockHandle handle = turned.acquire(request("key", LEASE, Duration.ZERO));
			AtomicInteger left = new AtomicInteger(last);
			clock.onReading = () -> {
				if (Thread.currentThread() == holder && left.decrementAndGet() == 0) {
					clock.pass(LEASE);
				}
			};
			assertThat(catchThrowable(handle::assertHeld)).as("reading %d", last)
				.satisfiesAnyOf((none) -> assertThat(none).isNull(),
						(lost) -> assertThat(lost).isInstanceOf(LockLostException.class));
			clock.onReading = () -> {
			};
			clock.pass(LEASE);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		}
		turned.close();
	}

	@Test
	void r3LossByAWallClockThatIsSetForwardIsAnnouncedLongBeforeTheNextRenewal() {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry stepped = new LeaseLockRegistry(this.store, this.settings, clock);
		LockHandle handle = stepped.acquire(request("key", Duration.ofMinutes(10), Duration.ZERO));
		List<LockHandle> told = new CopyOnWriteArrayList<>();
		handle.onLost(told::add);
		clock.stepWall(Duration.ofMinutes(11));
		Awaitility.await().until(() -> !told.isEmpty());
		assertThat(told).containsExactly(handle);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		stepped.close();
	}

	@Test
	void r3LossByAWallClockThatIsSetBackFirstIsAnnounced() {
		assertLossIsAnnounced((clock, registry) -> {
			clock.stepWall(Duration.ofHours(1));
			lookAtClocks(registry);
		});
	}

	/**
	 * The monotonic clock of a suspended machine stands still: by that clock the renewal
	 * is not due before the end of the lease.
	 */
	@Test
	void leaseIsRenewedAtOnceAfterASuspensionOfMostOfIt() {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry suspended = new LeaseLockRegistry(this.store, this.settings, clock);
		LockHandle handle = suspended.acquire(request("key", Duration.ofMinutes(10), Duration.ZERO));
		clock.passOnTheWallOnly(Duration.ofMinutes(9));
		clock.pass(Duration.ofMillis(1));
		Awaitility.await().until(() -> this.store.renewals.get() == 1);
		Awaitility.await().until(() -> handle.remaining().compareTo(Duration.ofMinutes(9)) > 0);
		handle.release();
		suspended.close();
	}

	@Test
	void lockThatWasGrantedDuringASuspensionIsRenewedAtOnce() {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry suspended = new LeaseLockRegistry(this.store, this.settings, clock);
		this.store.beforeAcquire = () -> {
			clock.passOnTheWallOnly(Duration.ofMinutes(7));
			lookAtClocks(suspended);
			clock.pass(Duration.ofMillis(1));
		};
		LockHandle handle = suspended.acquire(request("key", Duration.ofMinutes(10), Duration.ZERO));
		Awaitility.await().until(() -> this.store.renewals.get() == 1);
		Awaitility.await().until(() -> handle.remaining().compareTo(Duration.ofMinutes(9)) > 0);
		handle.release();
		suspended.close();
	}

	@Test
	void renewalDuringASuspensionIsRepeatedAtOnce() {
		TurnedClock clock = new TurnedClock();
		TroubledStore turned = new TroubledStore(new MemoryLockStore(clock::nanoTime));
		LeaseLockRegistry suspended = new LeaseLockRegistry(turned, this.settings, clock);
		turned.beforeRenew = () -> {
			if (turned.renewals.get() == 1) {
				clock.passOnTheWallOnly(Duration.ofMillis(1800));
				lookAtClocks(suspended);
				clock.pass(Duration.ofMillis(1));
			}
		};
		LockHandle handle = suspended.acquire(request("key", Duration.ofMillis(3600), Duration.ZERO));
		clock.pass(Duration.ofMillis(1200));
		Awaitility.await().until(() -> turned.renewals.get() == 2);
		Awaitility.await().until(() -> handle.remaining().compareTo(Duration.ofMillis(3500)) > 0);
		handle.release();
		suspended.close();
	}

	/**
	 * Each step by itself is none that the timer notices.
	 */
	@Test
	void r3LossByAWallClockThatRunsFastIsAnnounced() {
		assertLossIsAnnounced((clock, registry) -> {
			for (int i = 0; i < 10_000; i++) {
				clock.stepWall(Duration.ofMillis(6));
				lookAtClocks(registry);
			}
		});
	}

	private void assertLossIsAnnounced(BiConsumer<TurnedClock, LeaseLockRegistry> turn) {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry stepped = new LeaseLockRegistry(this.store, this.settings, clock);
		clock.stepWall(Duration.ofHours(-1));
		lookAtClocks(stepped);
		LockHandle handle = stepped.acquire(request("key", Duration.ofMinutes(1), Duration.ZERO));
		List<LockHandle> told = new CopyOnWriteArrayList<>();
		handle.onLost(told::add);
		turn.accept(clock, stepped);
		Awaitility.await().until(() -> !told.isEmpty());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		stepped.close();
	}

	private static void lookAtClocks(LeaseLockRegistry registry) {
		CountDownLatch looked = new CountDownLatch(1);
		registry.threads().schedule(() -> {
			LeaseInternals.checkClocks(registry.renewer());
			looked.countDown();
		}, 0);
		AbstractLeaseLockRegistryTests.awaitQuietly(looked);
	}

	@Test
	void failedCheckOfALeaseIsRepeatedAfterAPause() {
		FailingClock clock = new FailingClock("check");
		LeaseLockRegistry failing = new LeaseLockRegistry(this.store, this.settings, clock);
		LockHandle handle = failing.acquire(request("key", Duration.ofSeconds(9), Duration.ZERO));
		clock.fails = true;
		Awaitility.await().until(() -> clock.failures.size() >= 3);
		clock.fails = false;
		assertThat(Duration.ofNanos(clock.failures.get(2) - clock.failures.get(0)))
			.isGreaterThanOrEqualTo(Duration.ofMillis(200));
		Awaitility.await().until(() -> this.store.renewals.get() >= 1);
		assertThat(handle.isValid()).isTrue();
		handle.release();
		failing.close();
	}

	@Test
	void r3FailedComparisonOfTheClocksIsRepeated() {
		FailingClock clock = new FailingClock("checkClocks");
		LeaseLockRegistry failing = new LeaseLockRegistry(this.store, this.settings, clock);
		LockHandle handle = failing.acquire(request("key", Duration.ofMinutes(10), Duration.ZERO));
		clock.fails = true;
		Awaitility.await().until(() -> clock.failures.size() >= 2);
		clock.fails = false;
		handle.release();
		failing.close();
	}

	@Test
	void r5LateRenewalCountsFromItsRequest() {
		TurnedClock clock = new TurnedClock();
		TroubledStore slow = new TroubledStore(new MemoryLockStore(clock::nanoTime));
		LeaseLockRegistry late = new LeaseLockRegistry(slow, this.settings, clock);
		LockHandle handle = late.acquire(request("key", Duration.ofMillis(3600), Duration.ZERO));
		slow.beforeRenew = () -> {
			if (slow.renewals.get() == 1) {
				clock.pass(Duration.ofMillis(2000));
			}
			else {
				slow.renewalsAreNotSent = true;
			}
		};
		clock.pass(Duration.ofMillis(1200));
		Awaitility.await().until(() -> slow.renewals.get() >= 2);
		assertThat(handle.remaining()).isEqualTo(Duration.ofMillis(3600 - 36 - 2 - 2000));
		handle.release();
		late.close();
	}

	/**
	 * A method of the timer fails.
	 */
	private static final class FailingClock implements MachineClock {

		private final List<Long> failures = new CopyOnWriteArrayList<>();

		private final String method;

		private volatile boolean fails;

		FailingClock(String method) {
			this.method = method;
		}

		@Override
		public long nanoTime() {
			return System.nanoTime();
		}

		@Override
		public long wallMillis() {
			if (this.fails && StackWalker.getInstance()
				.walk((frames) -> frames.anyMatch((frame) -> frame.getMethodName().equals(this.method)))) {
				this.failures.add(System.nanoTime());
				throw new IllegalStateException("no time");
			}
			return System.currentTimeMillis();
		}

	}

}
