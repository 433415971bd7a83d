package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Answers of the store that come so late that hardly anything is left of the lease, and
 * requests after failures that have passed.
 */
class LateGrantTests extends AbstractLeaseLockRegistryTests {

	private static final Duration LONG = Duration.ofMinutes(5);

	private final TurnedClock clock = new TurnedClock();

	private final LeaseLockRegistry late = new LeaseLockRegistry(this.store, this.settings, this.clock);

	private final AtomicInteger answers = new AtomicInteger();

	@AfterEach
	void close() {
		this.late.close();
		assertThat(this.late.queues().size()).isZero();
		assertThat(this.late.renewer().size()).isZero();
	}

	/**
	 * The first answer comes so late that its lock is not used.
	 */
	private void answerLate() {
		this.store.afterAcquire = () -> {
			if (this.answers.incrementAndGet() == 1) {
				this.clock.pass(LEASE.minusSeconds(1));
			}
		};
	}

	/**
	 * The late grant is revoked only after the next request was answered.
	 */
	private void revokeAfterTheNextAnswer() {
		this.store.beforeRelease = () -> Awaitility.await().until(() -> this.answers.get() > 1);
	}

	private void assertHeldInStore(LockHandle handle) {
		Awaitility.await().until(() -> this.late.revoker().size() == 0);
		assertThat(this.store.memory.find("key"))
			.hasValueSatisfying((lock) -> assertThat(lock.token() * 1024).isEqualTo(handle.token()));
	}

	@Test
	void r2r25RevocationOfLateGrantKeepsTheLockOfTheNextRequest() {
		answerLate();
		revokeAfterTheNextAnswer();
		try (LockHandle handle = this.late.acquire(request("key", LEASE, LONG))) {
			assertHeldInStore(handle);
		}
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void r2r25RevocationOfLateGrantKeepsTheLockOfTheNextAsynchronousRequest() throws Exception {
		answerLate();
		revokeAfterTheNextAnswer();
		try (LockHandle handle = this.late.acquireAsync(request("key", LEASE, LONG)).get()) {
			assertHeldInStore(handle);
		}
	}

	@Test
	void r2LateGrantToAsynchronousTryIsRevoked() {
		answerLate();
		CompletableFuture<LockHandle> request = this.late.acquireAsync(noWait("key"));
		assertThatExceptionOfType(Exception.class).isThrownBy(request::get)
			.withCauseInstanceOf(LockStoreException.class)
			.withMessageContaining("so late");
		Awaitility.await().until(() -> isFreeInStore("key"));
	}

	/**
	 * A process that was suspended before its request left may find more than a lease
	 * gone at the answer, while the store has just begun to count.
	 */
	@Test
	void r2GrantThatIsYoungerThanItsRequestIsRevoked() {
		this.store.beforeAcquire = () -> this.clock.pass(LEASE.plusSeconds(1));
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.late.acquire(noWait("key")))
			.withMessageContaining("so late");
		Awaitility.await().atMost(LEASE.dividedBy(2)).until(() -> isFreeInStore("key"));
	}

	/**
	 * The revocation of the late grant undoes one request of its owner. The other arrives
	 * later, in the last second of the time in which it is revoked.
	 */
	@Test
	void r2r25UnansweredRequestBeforeLateGrantIsRevoked() {
		this.store.stuckAcquires.set(1);
		answerLate();
		this.late.acquire(request("key", LEASE, LONG)).release();
		assertThat(isFreeInStore("key")).isTrue();
		awaitEndOfRevocations();
		this.store.memory.acquire(this.store.stuck.remove());
		this.clock.pass(Duration.ofMillis(980));
		Awaitility.await().atMost(LEASE.dividedBy(2)).until(() -> isFreeInStore("key"));
		this.clock.pass(LEASE);
	}

	/**
	 * The next revocation is planned after the answer of the last one.
	 */
	private void awaitEndOfRevocations() {
		Awaitility.await().until(() -> this.store.releases.get() == 2);
		CountDownLatch ended = new CountDownLatch(1);
		this.late.threads().scheduleRevocation(ended::countDown, 0);
		awaitQuietly(ended);
	}

	@Test
	void r24OldFailureDoesNotEndTheWaitAtTheNextFailure() {
		holdElsewhere("key", Duration.ofHours(1));
		this.store.beforeAcquire = () -> {
			switch (this.store.acquires.get()) {
				case 1 -> fail();
				case 2 -> this.clock.pass(LEASE.plusSeconds(5));
				case 3 -> fail();
				case 4 -> this.store.memory.release("key", "elsewhere");
				default -> {
				}
			}
		};
		this.late.acquire(request("key", LEASE, LONG)).release();
		assertThat(this.store.acquires).hasValue(4);
	}

	@Test
	void r24RefusalAfterAFailureIsBusy() {
		holdElsewhere("key", Duration.ofHours(1));
		this.store.beforeAcquire = () -> {
			if (this.store.acquires.get() == 1) {
				fail();
			}
			this.clock.pass(LONG);
		};
		assertThatExceptionOfType(LockBusyException.class)
			.isThrownBy(() -> this.late.acquire(request("key", LEASE, LONG)));
	}

	private static void fail() {
		throw new StoreException(Effect.NONE, false, "connection refused", null);
	}

}
