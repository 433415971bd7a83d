package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Renewals that a holder asks for.
 */
class RenewNowTests {

	private static final Duration LEASE = Duration.ofMinutes(1);

	private final TroubledStore store = new TroubledStore();

	private final TurnedClock clock = new TurnedClock();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
			LockSettings.builder().shutdownTimeout(Duration.ZERO).build(), this.clock);

	private final LockRequest request = LockRequest.builder("key").lease(LEASE).renew(false).build();

	@AfterEach
	void closeRegistry() {
		this.registry.close();
	}

	@Test
	void leaseBeginsAnew() {
		try (LockHandle handle = this.registry.acquire(this.request)) {
			this.clock.pass(Duration.ofSeconds(50));
			assertThat(handle.remaining()).isLessThan(Duration.ofSeconds(10));
			handle.renewNow();
			assertThat(handle.remaining()).isBetween(Duration.ofSeconds(59), LEASE);
			this.clock.pass(Duration.ofSeconds(50));
			handle.assertHeld();
		}
		assertThat(this.store.renewals).hasValue(1);
	}

	@Test
	void leaseCountsFromBeforeTheCall() {
		this.store.beforeRenew = () -> this.clock.pass(Duration.ofSeconds(20));
		try (LockHandle handle = this.registry.acquire(this.request)) {
			handle.renewNow();
			assertThat(handle.remaining()).isLessThan(Duration.ofSeconds(40));
		}
	}

	@Test
	void sharedLeaseBeginsAnewForAllReaders() {
		LockRequest shared = this.request.withMode(LockMode.SHARED);
		try (LockHandle reader = this.registry.acquireAsync(shared).join();
				LockHandle other = this.registry.acquireAsync(shared).join()) {
			this.clock.pass(Duration.ofSeconds(50));
			reader.renewNow();
			assertThat(other.remaining()).isBetween(Duration.ofSeconds(59), LEASE);
		}
		assertThat(this.store.renewals).hasValue(1);
	}

	@Test
	void permitIsRenewed() {
		try (LockHandle permit = this.registry.acquirePermit(this.request, 2);
				LockHandle other = this.registry.acquirePermit(this.request, 2)) {
			this.clock.pass(Duration.ofSeconds(50));
			permit.renewNow();
			assertThat(permit.remaining()).isBetween(Duration.ofSeconds(59), LEASE);
			assertThat(other.remaining()).isLessThan(Duration.ofSeconds(10));
		}
	}

	@Test
	void locksOfASetAreRenewed() {
		try (LockSet set = this.registry.acquireAll(this.request, List.of("a", "b"))) {
			this.clock.pass(Duration.ofSeconds(50));
			set.renewNow();
			assertThat(set.remaining()).isGreaterThan(Duration.ofSeconds(55));
		}
	}

	@Test
	void maxHoldStands() {
		LockRequest limited = LockRequest.builder("key").lease(LEASE).maxHold(LEASE).build();
		LockHandle handle = this.registry.acquire(limited);
		this.clock.pass(Duration.ofSeconds(50));
		handle.renewNow();
		assertThat(handle.remaining()).isLessThanOrEqualTo(Duration.ofSeconds(10));
		handle.release();
	}

	@Test
	void lostAnswerIsAFailureAndTheFormerDeadlineStands() {
		List<LockEvent> events = new CopyOnWriteArrayList<>();
		this.registry.addListener(events::add);
		LockHandle handle = this.registry.acquire(this.request);
		this.clock.pass(Duration.ofSeconds(30));
		Duration before = handle.remaining();
		this.store.renewalsThrow = true;
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(handle::renewNow)
			.withMessageContaining("failed to renew lock 'key'")
			.withMessageContaining("is held for another 2");
		assertThat(handle.remaining()).isLessThanOrEqualTo(before).isGreaterThan(Duration.ofSeconds(20));
		handle.release();
		assertThat(events).hasAtLeastOneElementOfType(LockEvent.Released.class);
	}

	@Test
	void listenersAreToldOfEachAnswer() {
		List<LockEvent> events = new CopyOnWriteArrayList<>();
		this.registry.addListener(events::add);
		try (LockHandle handle = this.registry.acquire(this.request)) {
			this.clock.pass(Duration.ofSeconds(50));
			handle.renewNow();
			this.store.renewalsFail = true;
			assertThatExceptionOfType(LockStoreException.class).isThrownBy(handle::renewNow);
			this.registry.threads().awaitEvents(Patience.EVENTUALLY);
			assertThat(events).hasExactlyElementsOfTypes(LockEvent.Acquired.class, LockEvent.Renewed.class,
					LockEvent.RenewalFailed.class);
			assertThat(((LockEvent.Renewed) events.get(1)).remaining()).isGreaterThan(Duration.ofSeconds(55));
		}
	}

	@Test
	void refusalIsALoss() {
		LockHandle handle = this.registry.acquire(this.request);
		this.store.memory.clear();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renewNow)
			.withMessageContaining("refused its renewal");
		assertThat(handle.isValid()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
	}

	@Test
	void leaseThatEndsDuringACallWithoutAnAnswerIsALoss() {
		LockHandle handle = this.registry.acquire(this.request);
		this.store.renewalsFail = true;
		this.store.beforeRenew = () -> this.clock.pass(LEASE);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renewNow);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
	}

	@Test
	void leaseThatIsOverIsNotRenewed() {
		LockHandle handle = this.registry.acquire(this.request);
		this.clock.pass(LEASE);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renewNow);
		assertThat(this.store.renewals).hasValue(0);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
	}

	@Test
	void releasedHandleIsNotRenewed() {
		LockHandle handle = this.registry.acquire(this.request);
		handle.release();
		assertThatIllegalStateException().isThrownBy(handle::renewNow).withMessageContaining("released");
		assertThat(this.store.renewals).hasValue(0);
	}

	/**
	 * The answer to a renewal in the background comes after that to a later one.
	 */
	@Test
	void earlierRenewalDoesNotShortenTheLease() throws Exception {
		CountDownLatch sent = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		LockHandle handle = this.registry.acquireAsync(this.request).get();
		this.store.beforeRenew = () -> {
			this.store.beforeRenew = () -> {
			};
			sent.countDown();
			AbstractLeaseLockRegistryTests.awaitQuietly(answer);
		};
		CompletableFuture<Void> early = CompletableFuture.runAsync(handle::renewNow);
		sent.await();
		this.clock.pass(Duration.ofSeconds(50));
		handle.renewNow();
		answer.countDown();
		early.get();
		assertThat(handle.remaining()).isGreaterThan(Duration.ofSeconds(55));
		handle.release();
	}

}
