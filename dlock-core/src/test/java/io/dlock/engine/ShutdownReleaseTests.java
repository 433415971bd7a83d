package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.LockRequestBuilder;
import io.dlock.LockSet;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.lease.AcquireContext.LeaseTerms;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.store.StoreException;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Grants and releases that are under way when a registry closes.
 */
class ShutdownReleaseTests extends AbstractLeaseLockRegistryTests {

	ShutdownReleaseTests() {
		super(SHORT_COMMAND_TIMEOUT);
	}

	@Test
	void r51LockGrantedDuringTheStopIsGivenBack() throws Exception {
		CountDownLatch answer = new CountDownLatch(1);
		CountDownLatch asked = this.store.holdAcquires(answer);
		CompletableFuture<LockHandle> request = inOtherThread(() -> this.registry.acquire("key"));
		asked.await();
		this.registry.close();
		answer.countDown();
		assertThatExceptionOfType(Exception.class).isThrownBy(request::get)
			.withCauseInstanceOf(LockRegistryClosedException.class);
		Awaitility.await().until(() -> isFreeInStore("key"));
	}

	@Test
	void r51LossOfALockThatIsGrantedDuringTheStopIsSuppressed() {
		LeaseLockRegistry closing = another(new LeaseLockRegistry(this.store, this.settings));
		closing.addListener((event) -> {
			if (event instanceof LockEvent.Acquired) {
				closing.close();
			}
		});
		assertThatExceptionOfType(LockRegistryClosedException.class).isThrownBy(() -> closing.acquire("key"))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class));
	}

	private static void assertThatCloseWaits(LeaseLockRegistry registry, Runnable end) throws InterruptedException {
		Thread closing = new Thread(registry::close);
		closing.start();
		closing.join(1500);
		assertThat(closing.isAlive()).isTrue();
		end.run();
		closing.join();
	}

	/**
	 * The process may end as soon as the registry is closed.
	 */
	@Test
	void r51CloseWaitsForTheCallThatIsUnderWayAndGivesItsLockBack() throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().commandTimeout(Duration.ofSeconds(5)).build());
		CountDownLatch answer = new CountDownLatch(1);
		CountDownLatch asked = this.store.holdAcquires(answer);
		CompletableFuture<LockHandle> request = inOtherThread(() -> patient.acquire(noWait("key")));
		asked.await();
		assertThatCloseWaits(patient, answer::countDown);
		assertThat(isFreeInStore("key")).isTrue();
		assertThatExceptionOfType(Exception.class).isThrownBy(request::get)
			.withCauseInstanceOf(LockRegistryClosedException.class);
	}

	/**
	 * It is not passed on: the process may have ended before the next request gives it
	 * back.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "release", "releaseAsync", "releaseAll" })
	void r51LockThatIsReleasedDuringTheCloseIsFreeAtOnce(String way) {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().shutdownTimeout(Duration.ofSeconds(30)).build());
		LockRequest request = request("key", LEASE, LEASE);
		LockSet set = patient.acquireAllAsync(request, List.of("key")).join();
		LockHandle held = set.handles().get(0);
		QueuedRequest next = patient.queues().join(TestContexts.of("key", new LeaseTerms(LEASE, true)), () -> {
		});
		CompletableFuture<Void> closed = CompletableFuture.runAsync(patient::close, (task) -> new Thread(task).start());
		Awaitility.await().until(() -> !patient.queues().isOpen());
		try {
			switch (way) {
				case "release" -> held.release();
				case "releaseAsync" -> assertThat(held.releaseAsync()).succeedsWithin(Patience.EVENTUALLY);
				default -> set.release();
			}
			assertThat(isFreeInStore("key")).isTrue();
		}
		finally {
			patient.queues().leave(next);
			assertThat(closed).succeedsWithin(Patience.EVENTUALLY);
		}
	}

	/**
	 * The request of a shared lock or a permit has left its queue.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void r51CloseWaitsForTheReleaseOfAMemberAndRepeatsIt(boolean permit) throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder()
					.commandTimeout(Duration.ofSeconds(5))
					.shutdownTimeout(Duration.ofSeconds(30))
					.build());
		LockHandle held = (permit ? patient.acquirePermitAsync(LockRequest.of("key"), 1)
				: patient.acquireAsync(LockRequest.of("key").withMode(LockMode.SHARED)))
			.join();
		CountDownLatch answer = new CountDownLatch(1);
		CountDownLatch asked = new CountDownLatch(1);
		this.store.beforeRelease = () -> {
			this.store.beforeRelease = () -> {
			};
			asked.countDown();
			awaitQuietly(answer);
			throw new StoreException(StoreException.Effect.UNKNOWN, false, "no answer", null);
		};
		CompletableFuture<Void> released = inOtherThread(() -> {
			held.release();
			return null;
		});
		asked.await();
		assertThatCloseWaits(patient, answer::countDown);
		assertThat(isFreeInStore(held.key())).isTrue();
		released.join();
	}

	/**
	 * Its request has left the queue, and its handle is not given out yet.
	 */
	@Test
	void r51CloseWaitsForAMemberThatIsGrantedDuringTheStop() throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().commandTimeout(Duration.ofSeconds(5)).build());
		CountDownLatch answer = new CountDownLatch(1);
		CountDownLatch granted = new CountDownLatch(1);
		CountDownLatch told = new CountDownLatch(1);
		patient.addListener((event) -> {
			if (event instanceof LockEvent.Acquired) {
				granted.countDown();
				awaitQuietly(told);
			}
		});
		CountDownLatch asked = this.store.holdAcquires(answer);
		CompletableFuture<LockHandle> request = patient.acquireAsync(noWait("key").withMode(LockMode.SHARED));
		asked.await();
		Thread closing = new Thread(patient::close);
		closing.start();
		Awaitility.await().until(() -> closing.getState() == Thread.State.TIMED_WAITING);
		answer.countDown();
		granted.await();
		closing.join(1500);
		assertThat(closing.isAlive()).isTrue();
		told.countDown();
		closing.join();
		assertThat(isFreeInStore("key")).isTrue();
		assertThat(request).failsWithin(Patience.EVENTUALLY).withThrowableOfType(ExecutionException.class);
	}

	/**
	 * Its thread has not begun yet.
	 */
	@Test
	void r51CloseWaitsForAReleaseInTheBackground() throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().commandTimeout(Duration.ofSeconds(5)).build());
		LeaseLockHandle held = (LeaseLockHandle) patient.acquirePermitAsync(LockRequest.of("key"), 1).join();
		Runnable end = patient.queues().releasing(held.hold());
		held.release();
		assertThatCloseWaits(patient, end);
	}

	/**
	 * Each call takes all of the time.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void closeCallsAStoreThatIsSlowForALimitedTime(boolean minHold) {
		int leases = 100;
		AtomicInteger calls = new AtomicInteger();
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry turned = another(new LeaseLockRegistry(this.store, this.settings, clock));
		for (int i = 0; i < leases; i++) {
			LockRequestBuilder request = LockRequest.builder("key " + i).lease(Duration.ofHours(1));
			turned.acquireAsync((minHold ? request.minHold(Duration.ofHours(1)) : request).build()).join();
		}
		this.store.beforeRelease = () -> {
			calls.incrementAndGet();
			clock.pass(this.settings.commandTimeout().multipliedBy(2));
		};
		this.store.beforeKeep = this.store.beforeRelease;
		turned.close();
		assertThat(calls).hasPositiveValue().hasValueLessThan(leases / 2);
		assertThat(turned.renewer().size()).isZero();
	}

	@Test
	void closeWaitsForACallOfAnotherThreadForALimitedTime() {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		Thread closing = Thread.currentThread();
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry turned = another(new LeaseLockRegistry(this.store, this.settings, clock));
		turned.acquireAsync(LockRequest.of("a")).join();
		turned.acquireAsync(LockRequest.of("b")).join();
		this.store.beforeRelease = () -> {
			if (Thread.currentThread() != closing) {
				asked.countDown();
				awaitQuietly(answer);
			}
			awaitQuietly(asked);
			clock.pass(this.settings.commandTimeout().multipliedBy(2));
		};
		turned.close();
		assertThat(isFreeInStore("a")).isNotEqualTo(isFreeInStore("b"));
		answer.countDown();
		Awaitility.await().until(() -> isFreeInStore("a") && isFreeInStore("b"));
	}

	/**
	 * Close would wait for hours.
	 */
	@Test
	@Timeout(20)
	void closeWaitsForNoReleaseThatIsOver() {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().commandTimeout(Duration.ofHours(1)).lease(Duration.ofHours(10)).build());
		LockRequest shared = LockRequest.of("key").withMode(LockMode.SHARED);
		patient.acquirePermit("key", 1).release();
		patient.acquireAll(shared, List.of("a", "b")).release();
		patient.acquireAsync(shared).join().releaseAsync().join();
		patient.close();
	}

	/**
	 * The thread that closes the registry does the work that the revoker has not done
	 * yet.
	 */
	@Test
	void r51PendingRevocationsAreRepeatedOnce() {
		LeaseLockRegistry closing = another(
				new LeaseLockRegistry(this.store, this.settings.toBuilder().commandTimeout(COMMAND_TIMEOUT).build()));
		this.store.lostAcquireReplies.set(1);
		this.store.beforeRelease = () -> {
			if (Thread.currentThread().getName().startsWith("dlock-revoker")) {
				throw new StoreException(StoreException.Effect.UNKNOWN, false, "no answer", null);
			}
		};
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> closing.acquire(noWait("key")));
		assertThat(isFreeInStore("key")).isFalse();
		closing.close();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void r51RevocationThatFailsWhileTheRegistryClosesIsRepeated() throws Exception {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		this.store.lostAcquireReplies.set(1);
		this.store.beforeRelease = () -> {
			if (Thread.currentThread().getName().startsWith("dlock-revoker")) {
				asked.countDown();
				awaitQuietly(answer);
				throw new StoreException(StoreException.Effect.UNKNOWN, false, "no answer", null);
			}
		};
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().commandTimeout(Duration.ofSeconds(5)).build());
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> patient.acquire(noWait("key")));
		asked.await();
		Thread closing = new Thread(patient::close);
		closing.start();
		Awaitility.await()
			.until(() -> closing.getState() == Thread.State.TIMED_WAITING
					|| closing.getState() == Thread.State.TERMINATED);
		answer.countDown();
		closing.join();
		assertThat(isFreeInStore("key")).isTrue();
	}

}
