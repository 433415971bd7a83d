package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;

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
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.store.StoreException;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The end of a registry.
 */
class ShutdownTests extends AbstractLeaseLockRegistryTests {

	@Test
	void threadsOfAnOpenRegistryKeepNoProcessAlive() throws Exception {
		this.registry.acquireAsync(LockRequest.of("key")).get().release();
		try (LockHandle handle = this.registry.acquire("key")) {
			handle.assertHeld();
			assertThat(Thread.getAllStackTraces().keySet())
				.filteredOn((thread) -> thread.getName().startsWith("dlock-"))
				.isNotEmpty()
				.allMatch(Thread::isDaemon);
		}
	}

	@Test
	void r51ClosedRegistryGrantsNothing() {
		this.registry.close();
		assertThatExceptionOfType(LockRegistryClosedException.class).isThrownBy(() -> this.registry.acquire("key"));
		assertThat(this.store.acquires).hasValue(0);
	}

	@Test
	void r51ClosedRegistryFailsFutures() {
		this.registry.close();
		LockRequest exclusive = LockRequest.of("key");
		LockRequest shared = exclusive.withMode(LockMode.SHARED);
		for (CompletableFuture<?> future : List.of(this.registry.acquireAsync(exclusive),
				this.registry.acquireAsync(shared), this.registry.acquireAllAsync(shared, List.of("a", "b")))) {
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(future::get)
				.withCauseInstanceOf(LockRegistryClosedException.class);
		}
	}

	@Test
	void r51ClosingRegistryWakesWaiters() {
		holdElsewhere("elsewhere", LEASE);
		LockHandle held = this.registry.acquire("here");
		CompletableFuture<LockHandle> remote = inOtherThread(
				() -> this.registry.acquire(request("elsewhere", LEASE, LockRequest.FOREVER)));
		CompletableFuture<LockHandle> local = inOtherThread(
				() -> this.registry.acquire(request("here", LEASE, LockRequest.FOREVER)));
		CompletableFuture<LockHandle> async = this.registry.acquireAsync(request("here", LEASE, LockRequest.FOREVER));
		Awaitility.await().until(() -> waitersOf("here") == 2 && this.store.acquires.get() > 3);
		this.registry.close();
		for (CompletableFuture<LockHandle> waiter : List.of(remote, local, async)) {
			assertThatExceptionOfType(Exception.class).isThrownBy(waiter::get)
				.withCauseInstanceOf(LockRegistryClosedException.class);
		}
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::release);
	}

	@Test
	void r51RunningHoldersCanFinish() throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().shutdownTimeout(Duration.ofSeconds(30)).build());
		CountDownLatch finish = new CountDownLatch(1);
		CountDownLatch running = new CountDownLatch(1);
		CompletableFuture<String> body = inOtherThread(() -> patient.execute(LockRequest.of("key"), (handle) -> {
			running.countDown();
			finish.await();
			handle.assertHeld();
			return "finished";
		}));
		running.await();
		CompletableFuture<LockHandle> waiter = inOtherThread(
				() -> patient.acquire(request("key", LEASE, LockRequest.FOREVER)));
		Awaitility.await().until(() -> TestContexts.waiters(patient, "key") == 1);
		CompletableFuture<Void> closing = inOtherThread(() -> {
			patient.close();
			return null;
		});
		Awaitility.await().until(() -> !patient.isRunning());
		assertThat(closing).isNotDone();
		assertThatExceptionOfType(Exception.class).as("at once, not after the holder")
			.isThrownBy(waiter::get)
			.withCauseInstanceOf(LockRegistryClosedException.class);
		finish.countDown();
		assertThat(body.get()).isEqualTo("finished");
		closing.get();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void r51SecondCloserLeavesTheHoldersTheirTime() throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().shutdownTimeout(Duration.ofSeconds(30)).build());
		LockHandle held = patient.acquireAsync(request("key", SHORT_LEASE, Duration.ZERO)).get();
		List<CompletableFuture<Void>> closers = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			closers.add(inOtherThread(() -> {
				patient.close();
				return null;
			}));
		}
		Awaitility.await().until(() -> !patient.isRunning());
		int renewals = this.store.renewals.get();
		Awaitility.await()
			.until(() -> closers.stream().anyMatch(CompletableFuture::isDone) || this.store.renewals.get() > renewals);
		assertThat(closers).noneMatch(CompletableFuture::isDone);
		held.release();
		for (CompletableFuture<Void> closer : closers) {
			closer.get();
		}
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void r51HeldLocksAreTakenAwayAndTheirHoldersTold() throws Exception {
		LockHandle handle = this.registry.acquire("key");
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		handle.onLost(told::complete);
		this.store.beforeRelease = () -> assertThat(handle.isValid()).as("first told, then released").isFalse();
		this.registry.close();
		told.get();
		assertThat(isFreeInStore("key")).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release)
			.withMessageContaining("shut down");
	}

	@Test
	void r51ListenerOfALostLockIsToldAfterTheClose() {
		LockHandle handle = this.registry.acquire("key");
		this.registry.close();
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		handle.onLost(told::complete);
		assertThat(told).isCompletedWithValue(handle);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
	}

	@Test
	void closeReturnsWhenListenersHaveBeenToldOfTheLosses() {
		List<LockEvent> told = new CopyOnWriteArrayList<>();
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.Lost) {
				LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
				told.add(event);
			}
		});
		LockHandle handle = this.registry.acquire("key");
		this.registry.close();
		assertThat(told).hasSize(1);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
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
		CompletableFuture<Void> released = held.releaseAsync();
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
		assertThat(request).failsWithin(Patience.EVENTUALLY);
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

	private LeaseLockRegistry patient(TurnedClock clock) {
		return new LeaseLockRegistry(this.store,
				this.settings.toBuilder().shutdownTimeout(Duration.ofMinutes(5)).build(), clock);
	}

	@Test
	void restartedRegistryHasItsShutdownTimeAgain() {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry patient = patient(clock);
		patient.spendShutdownTime(clock::pass);
		patient.stop();
		patient.start();
		patient.spendShutdownTime((limit) -> assertThat(limit).isEqualTo(Duration.ofMinutes(5)));
		patient.close();
	}

	/**
	 * The lifecycle beans of a context stop before its beans are destroyed, and the tasks
	 * that an executor has queued run in between.
	 */
	@Test
	void c6StoppedRegistryWaitsForHoldersAndGrants() throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().shutdownTimeout(Duration.ofSeconds(30)).build());
		LockHandle held = patient.acquireAsync(LockRequest.of("key")).get();
		CompletableFuture<Void> stopping = inOtherThread(() -> {
			patient.stop();
			return null;
		});
		Awaitility.await().until(() -> !patient.isRunning());
		patient.acquireAsync(LockRequest.of("queued")).get().release();
		assertThat(stopping).isNotDone();
		held.release();
		stopping.get();
		patient.acquireAsync(LockRequest.of("queued")).get().release();
		patient.close();
		assertThatExceptionOfType(LockRegistryClosedException.class).isThrownBy(() -> patient.acquire("queued"));
	}

	/**
	 * Queued work that goes on acquiring locks would use up the time of the executors.
	 */
	@Test
	void c6StoppedRegistryDoesNotWaitForLocksGrantedLater() throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().shutdownTimeout(Duration.ofMinutes(5)).build());
		LockHandle held = patient.acquireAsync(LockRequest.of("key")).get();
		CompletableFuture<Void> stopping = inOtherThread(() -> {
			patient.stop();
			return null;
		});
		Awaitility.await().until(() -> !patient.isRunning());
		LockHandle later = patient.acquireAsync(LockRequest.of("queued")).get();
		held.release();
		assertThat(stopping).succeedsWithin(Duration.ofSeconds(30));
		later.release();
		patient.close();
	}

	/**
	 * Readers that join one after the other would keep the lease without end.
	 */
	@Test
	void c6StoppedRegistryDoesNotWaitForReadersThatJoinLater() throws Exception {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().shutdownTimeout(Duration.ofMinutes(5)).build());
		LockRequest shared = LockRequest.of("key").withMode(LockMode.SHARED);
		LockHandle held = patient.acquireAsync(shared).get();
		Thread stopping = new Thread(patient::stop);
		stopping.start();
		Awaitility.await().until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
		LockHandle later = patient.acquireAsync(shared).get();
		assertThat(later.token()).as("shares the lease").isEqualTo(held.token());
		held.release();
		Awaitility.await().until(() -> !stopping.isAlive());
		assertThat(later.isValid()).isTrue();
		later.release();
		patient.close();
	}

	@Test
	void c6SpentShutdownTimeShortensTheNextWait() {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry patient = patient(clock);
		patient.spendShutdownTime((limit) -> clock.pass(limit.minusMinutes(2)));
		patient.spendShutdownTime((limit) -> assertThat(limit).isBetween(Duration.ofMinutes(1), Duration.ofMinutes(2)));
		patient.close();
	}

	@Test
	void c6ShutdownTimeoutCoversStopAndClose() throws Exception {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry patient = patient(clock);
		LockHandle held = patient.acquireAsync(request("key", Duration.ofMinutes(20), Duration.ZERO)).get();
		CountDownLatch stopped = new CountDownLatch(1);
		Thread stopping = new Thread(() -> {
			patient.stop();
			stopped.countDown();
		});
		stopping.start();
		Awaitility.await().until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
		clock.pass(Duration.ofMinutes(5));
		stopping.interrupt();
		stopped.await();
		assertThat(held.isValid()).as("its work may go on while beans are destroyed").isTrue();
		patient.close();
		assertThat(held.isValid()).isFalse();
		assertThat(isFreeInStore("key")).isTrue();
	}

	/**
	 * The thread that closes the registry does the work that the revoker has not done
	 * yet.
	 */
	@Test
	void r51PendingRevocationsAreRepeatedOnce() {
		this.store.lostAcquireReplies.set(1);
		this.store.beforeRelease = () -> {
			if (Thread.currentThread().getName().startsWith("dlock-revoker")) {
				throw new StoreException(StoreException.Effect.UNKNOWN, false, "no answer", null);
			}
		};
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait("key")));
		assertThat(isFreeInStore("key")).isFalse();
		this.registry.close();
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

	@Test
	void closeEndsTheThreads() {
		LeaseLockRegistry other = new LeaseLockRegistry(this.store, this.settings);
		other.acquireAsync(LockRequest.of("key")).join().release();
		other.close();
		other.close();
		Awaitility.await().until(other.threads()::isTerminated);
	}

}
