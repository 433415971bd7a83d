package io.dlock.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.store.AcquireResult;
import io.dlock.store.StoreException;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Lost answers, and a store that is down.
 */
class LostAnswersTests extends AbstractLeaseLockRegistryTests {

	LostAnswersTests() {
		super(SHORT_COMMAND_TIMEOUT);
	}

	@Test
	void r24b1LostReplyToAnAcquireIsResolvedWithinTheWait() {
		this.store.lostAcquireReplies.set(2);
		LockHandle handle = this.registry.acquire(request("key", LEASE, Duration.ofSeconds(5)));
		assertThat(handle.isValid()).isTrue();
		assertThat(handle.token()).isEqualTo(this.store.memory.find("key").orElseThrow().token() * 1024);
		handle.release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void r25UnansweredAcquireIsRevoked() {
		this.store.lostAcquireReplies.set(1);
		LockStoreException ex = catchThrowableOfType(LockStoreException.class,
				() -> this.registry.acquire(noWait("key")));
		assertThat(ex).hasMessageContaining("'key'").hasMessageContaining("revoked");
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
		Awaitility.await().untilAsserted(() -> assertThat(this.registry.revoker().size()).isZero());
	}

	/**
	 * A registry that closes waits for the requests in its queues, and then makes the
	 * revocations that are left.
	 */
	@ParameterizedTest
	@EnumSource
	void r51RequestIsRevokedBeforeItLeavesItsQueue(LockMode mode) throws Exception {
		CountDownLatch answer = new CountDownLatch(1);
		CountDownLatch revoke = new CountDownLatch(1);
		CountDownLatch asked = this.store.holdAcquires(answer);
		this.store.beforeRelease = () -> awaitQuietly(revoke);
		this.store.lostAcquireReplies.set(1);
		CompletableFuture<LockHandle> request = inOtherThread(
				() -> this.registry.acquire(noWait("key").withMode(mode)));
		asked.await();
		List<Integer> revocations = new CopyOnWriteArrayList<>();
		QueuedRequest next = this.registry.queues()
			.join(TestContexts.of("key", new LeaseTerms(LEASE, true)),
					() -> revocations.add(this.registry.revoker().size()));
		answer.countDown();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(request::get)
			.withCauseInstanceOf(LockStoreException.class);
		assertThat(revocations).containsExactly(1);
		revoke.countDown();
		this.registry.queues().leave(next);
	}

	@Test
	void r25AcquireThatEndedWithAnUnexpectedFailureIsRevoked() {
		this.store.afterAcquire = () -> {
			throw new IllegalStateException("a driver with a bug");
		};
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait("key")))
			.withMessageContaining("revoked");
		Awaitility.await().until(() -> isFreeInStore("key"));
	}

	@Test
	void r25AcquireThatEndedWithAnErrorIsRevoked() {
		this.store.afterAcquire = () -> {
			throw new NoClassDefFoundError("driver");
		};
		assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(() -> this.registry.acquire(noWait("key")));
		Awaitility.await().atMost(LEASE.dividedBy(2)).until(() -> isFreeInStore("key"));
	}

	/**
	 * A store in Kotlin throws those of its driver as they are.
	 */
	@Test
	void r25AcquireThatEndedWithACheckedExceptionIsAnUnknownOutcome() {
		this.store.afterAcquire = () -> throwUnchecked(new IOException("connection reset"));
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait("key")))
			.withMessageContaining("revoked");
		Awaitility.await().atMost(LEASE.dividedBy(2)).until(() -> isFreeInStore("key"));
	}

	@SuppressWarnings("unchecked")
	private static <T extends Throwable> void throwUnchecked(Throwable ex) throws T {
		throw (T) ex;
	}

	@Test
	void r25ReleaseThatEndedWithAnErrorIsRepeated() {
		LockHandle handle = this.registry.acquire("key");
		this.store.beforeRelease = () -> {
			this.store.beforeRelease = () -> {
			};
			throw new NoClassDefFoundError("driver");
		};
		assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(handle::release);
		Awaitility.await().atMost(LEASE.dividedBy(2)).until(() -> isFreeInStore("key"));
	}

	@Test
	void r25ReleaseThatEndedWithACheckedExceptionIsRepeated() {
		LockHandle handle = this.registry.acquire("key");
		this.store.beforeRelease = () -> {
			this.store.beforeRelease = () -> {
			};
			throwUnchecked(new IOException("connection reset"));
		};
		handle.release();
		Awaitility.await().atMost(LEASE.dividedBy(2)).until(() -> isFreeInStore("key"));
	}

	@Test
	void r25RevocationContinuesUntilTheLeaseIsOver() {
		this.store.lostAcquireReplies.set(1);
		this.store.lostReleases.set(5);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait("key")));
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
		assertThat(this.store.releases.get()).isGreaterThanOrEqualTo(6);
	}

	/**
	 * With pauses of half a second, the default of long command timeouts, this would take
	 * ten seconds.
	 */
	@Test
	@Timing
	void r25RevocationIsTriedTwiceInACommandTimeoutHoweverLongTheOutageIs() throws Exception {
		this.store.lostAcquireReplies.set(1);
		this.store.lostReleases.set(Integer.MAX_VALUE);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait("key")));
		try (MachineWatch machine = MachineWatch.start()) {
			assertThat(machine.time(() -> Awaitility.await()
				.atMost(Patience.EVENTUALLY)
				.until(this.store.releases::get, (releases) -> releases > 40))).isLessThan(Duration.ofSeconds(5));
		}
		this.store.lostReleases.set(0);
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
	}

	/**
	 * The store is called once for each, and then ten times a second for all together.
	 */
	@Test
	void r25RevocationsThatFindNothingCostLittle() {
		this.store.stuckAcquires.set(100);
		for (int i = 0; i < 100; i++) {
			String key = "key-" + i;
			assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait(key)));
		}
		Awaitility.await().until(() -> this.store.releases.get() >= 100);
		long start = System.nanoTime();
		int before = this.store.releases.get();
		Awaitility.await().until(() -> this.store.releases.get() >= before + 15);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(1200));
		this.store.stuck.clear();
	}

	@Test
	void r25AcquireThatArrivesAfterItsRevocationIsRevokedToo() {
		this.store.stuckAcquires.set(1);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait("key")));
		Awaitility.await().until(() -> this.store.releases.get() >= 2);
		assertThat(this.store.memory.acquire(this.store.stuck.remove())).isInstanceOf(AcquireResult.Granted.class);
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
	}

	@Test
	void r25AcquireThatArrivesAfterTheReleaseOfItsRepetitionIsRevokedToo() {
		this.store.stuckAcquires.set(1);
		this.registry.acquire(request("key", LEASE, Duration.ofSeconds(5))).release();
		assertThat(isFreeInStore("key")).isTrue();
		this.store.memory.acquire(this.store.stuck.remove());
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
	}

	/**
	 * Of several requests without an answer one is found and undone: the others may
	 * arrive yet.
	 */
	@Test
	void r25FirstRevocationThatFindsSomethingIsNotTheLast() {
		this.store.stuckAcquires.set(1);
		this.store.lostAcquireReplies.set(Integer.MAX_VALUE);
		assertThatExceptionOfType(LockStoreException.class)
			.isThrownBy(() -> this.registry.acquire(request("key", LEASE, Duration.ofMillis(100))));
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
		this.store.memory.acquire(this.store.stuck.remove());
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
	}

	/**
	 * The revocation may find the lease itself, before its release does.
	 */
	@Test
	void r25RevocationThatFindsTheLeaseBeforeItsReleaseIsNotTheLast() {
		this.store.stuckAcquires.set(1);
		LockHandle handle = this.registry.acquire(request("key", LEASE, Duration.ofSeconds(5)));
		this.store.beforeRelease = () -> {
			if (!Thread.currentThread().getName().startsWith("dlock-revoker")) {
				Awaitility.await().until(() -> isFreeInStore("key"));
			}
		};
		handle.release();
		this.store.memory.acquire(this.store.stuck.remove());
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
	}

	@Test
	void r25RevocationsOfAnOutageDelayNoOthers() throws Exception {
		this.store.beforeRelease = () -> {
			throw new StoreException(StoreException.Effect.UNKNOWN, false, "no answer", null);
		};
		this.store.lostAcquireReplies.set(Integer.MAX_VALUE);
		for (int i = 0; i < 300; i++) {
			LockRequest request = request("key-" + i, Duration.ofMillis(500), Duration.ZERO);
			assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(request));
		}
		this.store.lostAcquireReplies.set(0);
		this.registry.acquireAsync(request("healthy", LEASE, LEASE)).get();
		long begin = System.nanoTime();
		int before = this.store.releases.get();
		Awaitility.await().until(() -> this.store.releases.get() >= before + 15);
		assertThat(Duration.ofNanos(System.nanoTime() - begin)).as("one attempt a round, not one for each")
			.isGreaterThan(Duration.ofMillis(100));
		this.store.beforeRelease = () -> {
		};
		Awaitility.await().until(() -> this.registry.revoker().size() == 0);
	}

	@Test
	void b33r26LostReplyToAReleaseIsNoLoss() {
		LockHandle handle = this.registry.acquire("key");
		this.store.lostReleaseReplies.set(1);
		handle.release();
		assertThat(isFreeInStore("key")).isTrue();
		this.registry.acquire(noWait("key")).release();
	}

	@Test
	void r26ReleaseThatFindsNothingWhileValidIsNoLoss() {
		LockHandle handle = this.registry.acquire("key");
		this.store.memory.clear();
		handle.release();
	}

	@Test
	void failedReleaseIsRepeatedInTheBackground() {
		LockHandle handle = this.registry.acquire("key");
		this.store.lostReleases.set(3);
		handle.release();
		Awaitility.await().untilAsserted(() -> assertThat(isFreeInStore("key")).isTrue());
	}

	@Test
	void r2LateGrantIsNotUsed() {
		TurnedClock clock = new TurnedClock();
		TroubledStore slow = new TroubledStore();
		LeaseLockRegistry late = new LeaseLockRegistry(slow, this.settings, clock);
		slow.afterAcquire = () -> {
			clock.pass(Duration.ofSeconds(17));
			slow.afterAcquire = () -> {
			};
		};
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> late.acquire(noWait("key")))
			.withMessageContaining("so late")
			.satisfies((ex) -> assertThat(ex.isOutage()).as("an outage, in which methods may proceed").isFalse());
		Awaitility.await().untilAsserted(() -> assertThat(slow.memory.find("key")).isEmpty());
		late.close();
	}

	@Test
	void b41ValidityIsCheckedAfterTheWait() {
		assertLateGrantIsRequestedAgain(Duration.ofSeconds(19));
	}

	/**
	 * The process stood still, for longer than an outage would be waited for.
	 */
	@Test
	void r2GrantThatArrivesAfterItsLeaseIsRequestedAgain() {
		assertLateGrantIsRequestedAgain(LEASE.plusSeconds(1));
	}

	private void assertLateGrantIsRequestedAgain(Duration delay) {
		TurnedClock clock = new TurnedClock();
		TroubledStore slow = new TroubledStore();
		LeaseLockRegistry late = new LeaseLockRegistry(slow, this.settings, clock);
		slow.afterAcquire = () -> {
			clock.pass(delay);
			slow.afterAcquire = () -> {
			};
		};
		LockHandle handle = late.acquire(request("key", LEASE, Duration.ofMinutes(5)));
		assertThat(handle.isValid()).isTrue();
		assertThat(slow.acquires.get()).isGreaterThan(1);
		handle.release();
		late.close();
	}

}
