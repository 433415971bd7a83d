package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Renewals that fail, hang or are refused.
 */
class FailedRenewalTests extends AbstractRenewalBatchTests {

	private static final Duration RENEWAL = LEASE.dividedBy(3);

	private static final Duration RETRY = LEASE.dividedBy(12);

	/**
	 * Let time pass, and wait for a call that renews.
	 */
	private void passAndRenew(Duration time) {
		int before = this.store.renewals.get();
		this.clock.pass(time);
		awaitWithLooks(() -> this.store.renewals.get() > before);
		awaitRenewals();
	}

	private void awaitWithLooks(BooleanSupplier condition) {
		Awaitility.await().until(() -> {
			lookAfterLeases(this.registry);
			return condition.getAsBoolean();
		});
	}

	/**
	 * Renewals come as usual after some that have failed.
	 */
	private void assertThatLockIsKept(LockHandle handle) {
		passAndRenew(RETRY);
		assertThat(isRenewed(handle)).isTrue();
		for (int i = 0; i < 3; i++) {
			passAndRenew(RENEWAL);
			assertThat(isRenewed(handle)).isTrue();
		}
		handle.release();
	}

	@Test
	void b14RenewalSurvivesAnyThrowable() {
		this.store.renewalsThrow = true;
		LockHandle handle = acquire("key", LEASE);
		passAndRenew(RENEWAL);
		passAndRenew(RETRY);
		this.store.renewalsThrow = false;
		assertThatLockIsKept(handle);
	}

	/**
	 * Such as a lack of memory, before the store is asked or after it has answered.
	 */
	@Test
	void b14RenewalSurvivesAnErrorOfThisProcess() {
		AtomicInteger readings = new AtomicInteger();
		LockHandle handle = acquire("key", LEASE);
		BooleanSupplier renewed = () -> handle.remaining().compareTo(LEASE.dividedBy(4).multipliedBy(3)) > 0;
		for (int reading = 1; reading < 8; reading++) {
			int failing = reading;
			failAtReading(readings, failing);
			this.clock.pass(RENEWAL);
			awaitWithLooks(() -> readings.get() >= failing || renewed.getAsBoolean());
			this.clock.onReading = () -> {
			};
			awaitWithLooks(() -> {
				this.clock.pass(LEASE.dividedBy(500));
				return renewed.getAsBoolean();
			});
		}
		handle.release();
	}

	private void failAtReading(AtomicInteger readings, int failing) {
		readings.set(0);
		this.clock.onReading = () -> {
			if (Thread.currentThread().getName().startsWith("dlock-renewal") && readings.incrementAndGet() == failing) {
				throw new NoClassDefFoundError("an error of this process");
			}
		};
	}

	@Test
	void b14RenewalSurvivesAStoreThatForgetsLeases() {
		List<LockEvent> failures = new CopyOnWriteArrayList<>();
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.RenewalFailed) {
				failures.add(event);
			}
		});
		this.store.renewalsAreForgotten = true;
		LockHandle handle = acquire("key", LEASE);
		passAndRenew(RENEWAL);
		passAndRenew(RETRY);
		Awaitility.await().untilAsserted(() -> assertThat(failures).as("without an answer").hasSize(2));
		this.store.renewalsAreForgotten = false;
		assertThatLockIsKept(handle);
	}

	@Test
	void failedRenewalIsRepeatedWithinTheLease() {
		LockHandle handle = acquire("key", LEASE);
		this.store.renewalsAreNotSent = true;
		passAndRenew(RENEWAL);
		passAndRenew(RETRY);
		passAndRenew(RETRY);
		assertThat(handle.isValid()).as("several failures fit into one lease").isTrue();
		this.store.renewalsAreNotSent = false;
		assertThatLockIsKept(handle);
	}

	@Test
	void r5UnansweredRenewalKeepsTheDeadline() {
		this.store.renewalsFail = true;
		LockHandle handle = acquire("key", LEASE);
		passAndRenew(RENEWAL);
		this.clock.pass(LEASE.minus(RENEWAL));
		assertThat(handle.isValid()).isFalse();
		assertThat(this.store.memory.find("key")).as("the store had renewed it, but its answer was lost").isPresent();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		assertThat(this.store.memory.find("key")).as("and the release frees it").isEmpty();
	}

	@Test
	void r8LossIsAnnouncedDuringAHangingRenewal() throws Exception {
		CountDownLatch hang = new CountDownLatch(1);
		LockHandle handle = acquire("key", LEASE);
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		handle.onLost(told::complete);
		this.store.beforeRenew = () -> AbstractLeaseLockRegistryTests.awaitQuietly(hang);
		this.clock.pass(RENEWAL);
		awaitWithLooks(() -> this.store.renewals.get() == 1);
		this.clock.pass(LEASE);
		lookAfterLeases(this.registry);
		assertThat(told.get()).isSameAs(handle);
		hang.countDown();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
	}

	@Test
	void r27RefusedRenewalIsAnImmediateLoss() throws Exception {
		LockHandle handle = acquire("key", LEASE);
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		handle.onLost(told::complete);
		this.store.memory.clear();
		this.clock.pass(RENEWAL);
		lookAfterLeases(this.registry);
		told.get();
		assertThat(handle.isValid()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release).withMessageContaining("refused");
	}

	@Test
	void b3RenewalUnderWayDoesNotOutliveTheRelease() throws Exception {
		for (int i = 0; i < 5; i++) {
			CountDownLatch renewing = new CountDownLatch(1);
			CountDownLatch released = new CountDownLatch(1);
			this.store.beforeRenew = () -> {
				renewing.countDown();
				AbstractLeaseLockRegistryTests.awaitQuietly(released);
			};
			LockHandle handle = acquire("key", LEASE);
			this.clock.pass(RENEWAL);
			lookAfterLeases(this.registry);
			renewing.await();
			handle.release();
			released.countDown();
			awaitRenewals();
			this.store.beforeRenew = () -> {
			};
		}
		LockHandle other = acquire("other", LEASE);
		for (int i = 0; i < 3; i++) {
			passAndRenew(RENEWAL);
		}
		other.release();
		assertThat(this.store.memory.find("key")).isEmpty();
		assertThat(this.registry.renewer().size()).isZero();
	}

}
