package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The longest time of a hold.
 */
class MaxHoldTests extends AbstractHandOffTests {

	private static final Duration MAX_HOLD = Duration.ofSeconds(25);

	@Override
	LockRequest request() {
		return LockRequest.builder("key").waitTime(LockRequest.FOREVER).maxHold(MAX_HOLD).build();
	}

	/**
	 * Let time pass, and wait for the renewal and its answer. The former one may not have
	 * been noted yet, so that the leases have to be checked again.
	 */
	private void passAndRenew(LeaseLockRegistry renewing, Duration time) {
		int before = this.store.renewals.get();
		this.clock.pass(time);
		Awaitility.await().pollInterval(Duration.ofMillis(5)).until(() -> {
			lookAfterLeases(renewing);
			return this.store.renewals.get() > before;
		});
		awaitRenewals(renewing);
	}

	private void passAndRenew(Duration time) {
		passAndRenew(this.registry, time);
	}

	@Test
	void renewedLockIsLostAfterMaxHold() {
		LockHandle handle = this.registry.acquire(request());
		for (int i = 0; i < 6; i++) {
			passAndRenew(Duration.ofSeconds(4));
		}
		assertThat(handle.isValid()).isTrue();
		assertThat(handle.remaining()).as("of the longest time, not of the lease").isEqualTo(Duration.ofSeconds(1));
		this.clock.pass(Duration.ofSeconds(1));
		assertThat(handle.isValid()).as("whatever the timer is doing").isFalse();
		assertThat(handle.remaining()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release)
			.withMessageContaining("maxHold of 25000 ms");
	}

	@Test
	void timeOfASuspendedMachineCounts() {
		LockHandle handle = this.registry.acquire(request());
		for (int i = 0; i < 3; i++) {
			this.clock.passOnTheWallOnly(Duration.ofSeconds(4));
			passAndRenew(Duration.ofSeconds(4));
		}
		assertThat(handle.remaining()).isEqualTo(Duration.ofSeconds(1));
		this.clock.pass(Duration.ofSeconds(1));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release).withMessageContaining("maxHold");
	}

	@Test
	void hangingHolderIsToldAndItsLockIsNotRenewed() throws Exception {
		LockHandle handle = this.registry.acquire(request());
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		handle.onLost(told::complete);
		for (int i = 0; i < 6; i++) {
			passAndRenew(Duration.ofSeconds(4));
		}
		this.clock.pass(Duration.ofSeconds(1));
		lookAfterLeases(this.registry);
		assertThat(told.get()).isSameAs(handle);
		assertThat(this.registry.renewer().size()).isZero();
		assertThat(this.store.memory.find("key")).as("the rest of the lease is for the holder to stop").isPresent();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		assertThat(this.store.memory.find("key")).as("released when it has stopped").isEmpty();
	}

	@Test
	void maxHoldOfSuccessorBeginsAnew() throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().handOffMaxDuration(Duration.ofSeconds(30)).build(), this.clock);
		LockHandle first = patient.acquire(request());
		CompletableFuture<LockHandle> waiter = patient.acquireAsync(request());
		Awaitility.await().until(() -> TestContexts.waiters(patient, "key") == 1);
		for (int i = 0; i < 6; i++) {
			passAndRenew(patient, Duration.ofSeconds(4));
		}
		first.release();
		LockHandle second = waiter.get();
		assertThat(second.token()).as("passed on").isEqualTo(first.token() + 1);
		for (int i = 0; i < 6; i++) {
			passAndRenew(patient, Duration.ofSeconds(4));
		}
		assertThat(second.isValid()).isTrue();
		this.clock.pass(Duration.ofSeconds(1));
		assertThat(second.isValid()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(second::release);
		patient.close();
	}

	@Test
	void reentrantRequestAfterMaxHoldIsLost() {
		LockHandle handle = this.registry
			.acquire(LockRequest.builder("key").lease(LEASE).maxHold(LEASE).renew(false).build());
		this.clock.pass(LEASE);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.registry.acquire(request()));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
	}

	@Test
	void settingsLimitRequestsWithoutMaxHold() {
		LockSettings limited = this.settings.toBuilder().maxHold(LEASE).build();
		LeaseLockRegistry own = new LeaseLockRegistry(this.store, limited, this.clock);
		LockHandle handle = own.acquire(LockRequest.of("key"));
		this.clock.pass(Duration.ofSeconds(5));
		lookAfterLeases(own);
		Awaitility.await().until(() -> handle.remaining().equals(Duration.ofSeconds(5)));
		handle.release();
		LockHandle longer = own.acquire(request());
		assertThat(longer.remaining()).isEqualTo(LEASE.minusMillis(102));
		longer.release();
		own.close();
	}

	@Test
	void contradictoryLimitsAreRefused() {
		LockSettings limited = this.settings.toBuilder().maxHold(Duration.ofSeconds(30)).build();
		assertThatIllegalArgumentException()
			.isThrownBy(() -> limited.validate(LockRequest.builder("key").lease(Duration.ofSeconds(31)).build()))
			.withMessageContaining("'key'")
			.withMessageContaining("31000 ms")
			.withMessageContaining("maxHold of 30000 ms");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> limited.validate(LockRequest.builder("key").minHold(Duration.ofSeconds(31)).build()))
			.withMessageContaining("'minHold'");
		assertThatIllegalArgumentException().as("the default lease")
			.isThrownBy(() -> this.settings.validate(LockRequest.builder("key").maxHold(Duration.ofSeconds(9)).build()))
			.withMessageContaining("10000 ms");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.settings.toBuilder().maxHold(Duration.ofSeconds(9)).build());
		assertThatIllegalArgumentException().isThrownBy(() -> limited.toBuilder().maxHold(Duration.ZERO).build());
		limited.toBuilder()
			.maxHold(null)
			.build()
			.validate(LockRequest.builder("key").lease(Duration.ofHours(1)).minHold(Duration.ofHours(2)).build());
	}

}
