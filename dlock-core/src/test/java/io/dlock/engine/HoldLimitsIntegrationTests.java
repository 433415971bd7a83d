package io.dlock.engine;

import java.time.Duration;
import java.util.UUID;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.dlock.LockHandle;
import io.dlock.LockInfo;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockRequestBuilder;
import io.dlock.LockSettings;
import io.dlock.store.LockStore;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The shortest and the longest time of a lock, as another instance sees them on real
 * servers.
 */
@Timeout(120)
class HoldLimitsIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(4);

	private final LockSettings settings = LockSettings.builder()
		.lease(LEASE)
		.commandTimeout(LEASE.dividedBy(4))
		.shutdownTimeout(Duration.ZERO)
		.build();

	private final String key = "limits/" + UUID.randomUUID();

	private LockRequestBuilder request() {
		return LockRequest.builder(this.key).waitTime(Duration.ofSeconds(60));
	}

	@ParameterizedTest
	@MethodSource("io.dlock.engine.TwoProcessesIntegrationTests#stores")
	void minHoldOutlivesTheReleaseAndEndsInTime(String address) {
		Duration minHold = Duration.ofMillis(700);
		try (Instance here = new Instance(address); Instance there = new Instance(address)) {
			long begin = System.nanoTime();
			LockHandle handle = here.registry.acquire(request().minHold(minHold).build());
			handle.release();
			LockHandle next = there.registry.acquire(request().build());
			Duration taken = Duration.ofNanos(System.nanoTime() - begin);
			// the store is asked for it when this clock says so, which is enough
			assertThat(taken).isGreaterThan(minHold.minusMillis(20));
			assertThat(next.token()).isGreaterThan(handle.token());
			next.release();
		}
	}

	@ParameterizedTest
	@MethodSource("io.dlock.engine.TwoProcessesIntegrationTests#stores")
	void minHoldBeyondTheLeaseOutlivesTheInstance(String address) {
		Duration minHold = LEASE.plusSeconds(1);
		// opening an instance may take longer than the lock is held, so it is opened
		// first
		try (Instance there = new Instance(address)) {
			long begin = System.nanoTime();
			long token;
			try (Instance here = new Instance(address)) {
				LockHandle handle = here.registry.acquire(request().minHold(minHold).build());
				token = handle.token();
				handle.release();
			}
			LockInfo kept = there.registry.find(this.key).orElseThrow();
			assertThat(kept.token()).isEqualTo(token);
			assertThat(Duration.between(kept.since(), kept.until())).isGreaterThanOrEqualTo(minHold.minusMillis(20));
			LockHandle next = there.registry.acquire(request().build());
			Duration taken = Duration.ofNanos(System.nanoTime() - begin);
			assertThat(taken).isGreaterThan(minHold.minusMillis(20));
			next.release();
		}
	}

	@ParameterizedTest
	@MethodSource("io.dlock.engine.TwoProcessesIntegrationTests#stores")
	void maxHoldEndsRenewalAndFreesTheLock(String address) {
		try (Instance here = new Instance(address); Instance there = new Instance(address)) {
			Duration lease = LEASE.plusSeconds(1);
			Duration maxHold = lease.plusMillis(500);
			long start = System.nanoTime();
			LockHandle hanging = here.registry.acquire(request().lease(lease).maxHold(maxHold).build());
			Awaitility.await().until(() -> !hanging.isValid());
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(maxHold);
			LockHandle next = there.registry.acquire(request().build());
			assertThat(next.token()).isGreaterThan(hanging.token());
			assertThatExceptionOfType(LockLostException.class).isThrownBy(hanging::release);
			assertThat(next.isValid()).isTrue();
			next.release();
		}
	}

	private final class Instance implements AutoCloseable {

		private final LockStore store;

		private final LeaseLockRegistry registry;

		private Instance(String address) {
			this.store = HolderProcess.store(address, Patience.COMMAND);
			this.registry = new LeaseLockRegistry(this.store, HoldLimitsIntegrationTests.this.settings);
		}

		@Override
		public void close() {
			this.registry.close();
			this.store.close();
		}

	}

}
