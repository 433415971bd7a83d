package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The end of a registry.
 */
class ShutdownTests extends AbstractLeaseLockRegistryTests {

	/** How long the end of a registry waits for the listeners. */
	private static final Duration EVENTS_AT_STOP = Duration.ofSeconds(1);

	ShutdownTests() {
		super(SHORT_COMMAND_TIMEOUT);
	}

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

	/**
	 * The driver of a store takes the signal that wakes its thread.
	 */
	@Test
	void r51ClosingRegistryWakesTheWaiterThatAsksTheStore() {
		CountDownLatch asking = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		this.store.beforeAcquire = () -> {
			asking.countDown();
			awaitQuietly(answer);
			throw new StoreQuarantinedException(Duration.ofHours(1));
		};
		CompletableFuture<LockHandle> waiter = inOtherThread(
				() -> this.registry.acquire(request("key", LEASE, LockRequest.FOREVER)));
		awaitQuietly(asking);
		CompletableFuture<Void> closed = CompletableFuture.runAsync(this.registry::close);
		Awaitility.await().until(() -> !this.registry.queues().isOpen());
		assertThat(closed).succeedsWithin(Patience.EVENTUALLY);
		answer.countDown();
		assertThat(waiter).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.withCauseInstanceOf(LockRegistryClosedException.class);
	}

	/**
	 * Each waiter that ends calls the next one of its queue.
	 */
	@ParameterizedTest
	@EnumSource
	void r51ThousandsOfFuturesOfOneKeyEndAtTheClose(LockMode mode) {
		LockHandle held = this.registry.acquire("key");
		LockRequest request = LockRequest.builder("key").mode(mode).waitTime(LockRequest.FOREVER).build();
		List<CompletableFuture<LockHandle>> waiting = Stream.generate(() -> this.registry.acquireAsync(request))
			.limit(20_000)
			.toList();
		this.registry.close();
		assertThat(CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new))).failsWithin(Patience.EVENTUALLY)
			.withThrowableOfType(ExecutionException.class);
		assertThat(waiting).allSatisfy((future) -> assertThat(future.handle((handle, ex) -> ex))
			.isCompletedWithValueMatching(LockRegistryClosedException.class::isInstance));
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
		LockHandle held = patient.acquireAsync(request("key", RENEWED_LEASE, LEASE)).get();
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
		LeaseLockRegistry closing = another(
				new LeaseLockRegistry(this.store, this.settings.toBuilder().commandTimeout(COMMAND_TIMEOUT).build()));
		LockHandle handle = closing.acquire("key");
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		handle.onLost(told::complete);
		List<Boolean> valid = new CopyOnWriteArrayList<>();
		this.store.beforeRelease = () -> valid.add(handle.isValid());
		closing.close();
		assertThat(valid).as("first told, then released").containsExactly(false);
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
		long begin = System.nanoTime();
		this.registry.close();
		if (System.nanoTime() - begin < EVENTS_AT_STOP.toNanos()) {
			assertThat(told).hasSize(1);
		}
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
	}

	@Test
	void closeWaitsASecondForListeners() {
		CountDownLatch closed = new CountDownLatch(1);
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.Lost) {
				awaitQuietly(closed);
			}
		});
		LockHandle handle = this.registry.acquire("key");
		long begin = System.nanoTime();
		this.registry.close();
		assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThanOrEqualTo(EVENTS_AT_STOP);
		closed.countDown();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
	}

	/**
	 * The first caller waits for the listeners.
	 */
	@Test
	void closeByAListenerDuringTheCloseDoesNotWaitForItsEnd() {
		// on a busy machine the listener may be too late
		Awaitility.await().until(this::listenerClosesTheRegistryBeforeItsEnd);
	}

	private boolean listenerClosesTheRegistryBeforeItsEnd() {
		LeaseLockRegistry closing = new LeaseLockRegistry(this.store, this.settings);
		CompletableFuture<Boolean> isOpen = new CompletableFuture<>();
		closing.addListener((event) -> {
			if (event instanceof LockEvent.Lost) {
				long begin = System.nanoTime();
				closing.close();
				boolean waited = System.nanoTime() - begin > EVENTS_AT_STOP.toNanos() / 2;
				isOpen.complete(!waited && closing.threads().schedule(() -> {
				}, 0) != null);
			}
		});
		LockHandle handle = closing.acquireAsync(request("key", LEASE, LEASE)).join();
		closing.close();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		return isOpen.join();
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
