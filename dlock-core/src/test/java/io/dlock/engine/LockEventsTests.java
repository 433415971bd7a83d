package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockBusyException;
import io.dlock.LockEvent;
import io.dlock.LockEvent.Acquired;
import io.dlock.LockEvent.Busy;
import io.dlock.LockEvent.Lost;
import io.dlock.LockEvent.Released;
import io.dlock.LockEvent.RenewalFailed;
import io.dlock.LockEvent.Renewed;
import io.dlock.LockEvent.StoreFailed;
import io.dlock.LockHandle;
import io.dlock.LockInfo;
import io.dlock.LockListener;
import io.dlock.LockLostException;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.LockRequestBuilder;
import io.dlock.LockStoreException;
import io.dlock.LossType;
import io.dlock.engine.lease.LeaseInternals;
import io.dlock.engine.lease.LockEvents;
import io.dlock.test.CapturedLog;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The events that listeners receive, their order and their threads.
 */
class LockEventsTests extends AbstractLeaseLockRegistryTests {

	LockEventsTests() {
		super(SHORT_COMMAND_TIMEOUT);
	}

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private static LockRequestBuilder shortLease(String key) {
		return LockRequest.builder(key).lease(SHORT_LEASE).renew(false);
	}

	private void awaitEvents(Class<?>... types) {
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.events).hasSize(types.length)
				.extracting(Object::getClass)
				.isEqualTo(List.of(types)));
	}

	@Test
	void acquiredEventHasNameAndReason() {
		this.registry.addListener(this.events::add);
		LockHandle handle = this.registry
			.acquire(LockRequest.builder("orders:42").name("orders").reason("place an order").build());
		handle.release();
		awaitEvents(Acquired.class, Released.class);
		assertThat(this.events).allSatisfy((event) -> {
			assertThat(event.key()).isEqualTo("orders:42");
			assertThat(event.name()).isEqualTo("orders");
			assertThat(event.reason()).isEqualTo("place an order");
		});
		assertThat(((Acquired) this.events.get(0)).token()).isEqualTo(handle.token());
		assertThat(((Released) this.events.get(1)).token()).isEqualTo(handle.token());
		this.events.clear();
		this.registry.acquire("key").release();
		assertThat(this.events).allSatisfy((event) -> {
			assertThat(event.name()).isNull();
			assertThat(event.reason()).isNull();
		});
	}

	@Test
	void nestedHandlesHaveNoEvents() {
		this.registry.addListener(this.events::add);
		try (LockHandle outer = this.registry.acquire("key"); LockHandle inner = this.registry.acquire("key")) {
			inner.assertHeld();
			outer.assertHeld();
		}
		awaitEvents(Acquired.class, Released.class);
	}

	@Test
	void busyEventFollowsTheDepartureFromTheQueue() {
		LeaseLockRegistry patient = another(
				new LeaseLockRegistry(this.store, this.settings.toBuilder().commandTimeout(COMMAND_TIMEOUT).build()));
		holdElsewhere("key", LEASE);
		List<Integer> queues = new CopyOnWriteArrayList<>();
		patient.addListener((event) -> {
			queues.add(patient.queues().size());
			this.events.add(event);
		});
		assertThat(patient.tryAcquire("key", Duration.ofMillis(20))).isEmpty();
		assertThat(patient.lock("key").tryLock()).isFalse();
		assertThat(patient.acquireAsync(noWait("key"))).failsWithin(LEASE)
			.withThrowableOfType(Exception.class)
			.withCauseInstanceOf(LockBusyException.class);
		awaitEvents(Busy.class, Busy.class, Busy.class);
		assertThat(queues).containsOnly(0);
		assertThat(((Busy) this.events.get(0)).waited()).isGreaterThanOrEqualTo(Duration.ofMillis(20));
		assertThat(this.events).allSatisfy((event) -> assertThat(((Busy) event).holder()).isNotNull()
			.extracting(LockInfo::holder)
			.isEqualTo("another instance"));
	}

	@Test
	void storeFailureIsNotAnnouncedAsBusy() {
		this.store.down = true;
		this.registry.addListener(this.events::add);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait("key")))
			.satisfies((ex) -> assertThat(((StoreFailed) this.events.get(0)).failure()).isSameAs(ex));
		assertThat(this.registry.acquireAsync(noWait("key"))).failsWithin(LEASE)
			.withThrowableOfType(ExecutionException.class);
		awaitEvents(StoreFailed.class, StoreFailed.class);
		this.store.down = false;
	}

	@Test
	void interruptedCancelledOrLateRequestHasNoEvent() {
		holdElsewhere("key", LEASE);
		this.registry.addListener(this.events::add);
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> this.registry.acquire("key"));
		assertThat(Thread.interrupted()).isTrue();
		CompletableFuture<LockHandle> cancelled = this.registry.acquireAsync(request("key", LEASE, LEASE));
		cancelled.cancel(false);
		this.registry.close();
		assertThatExceptionOfType(LockRegistryClosedException.class).isThrownBy(() -> this.registry.acquire("key"));
		Awaitility.await().until(() -> this.registry.queues().size() == 0);
		assertThat(this.events).isEmpty();
	}

	@Test
	void lossIsAnnouncedOnceAndTheLateReleaseIsNot() {
		this.registry.addListener(this.events::add);
		long begin = System.nanoTime();
		LockHandle handle = this.registry.acquire(shortLease("key").name("nightly").build());
		Duration acquiring = Duration.ofNanos(System.nanoTime() - begin);
		awaitEvents(Acquired.class, Lost.class);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		Lost lost = (Lost) this.events.get(1);
		assertThat(lost.name()).isEqualTo("nightly");
		assertThat(lost.token()).isEqualTo(handle.token());
		assertThat(lost.held()).isBetween(SHORT_LEASE.minusMillis(100).minus(acquiring), Duration.ofSeconds(30));
		assertThat(lost.cause()).contains("2000 ms ran out");
		assertThat(lost.type()).isEqualTo(LossType.EXPIRED);
		assertThat(this.events).hasSize(2);
	}

	@Test
	void lossByShutdownIsAnnounced() {
		this.registry.addListener(this.events::add);
		LockHandle handle = this.registry.acquire("key");
		this.registry.close();
		awaitEvents(Acquired.class, Lost.class);
		assertThat(((Lost) this.events.get(1)).cause()).contains("shut down");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
	}

	/**
	 * The timer may find the loss before the thread of the holder has announced the
	 * acquisition.
	 */
	@Test
	void lossIsNeverAnnouncedBeforeTheAcquisition() {
		this.registry.addListener((event) -> {
			if (event instanceof Acquired) {
				Awaitility.await().until(() -> this.registry.renewer().size() == 0);
			}
			this.events.add(event);
		});
		LockHandle handle = this.registry.acquire(shortLease("key").build());
		awaitEvents(Acquired.class, Lost.class);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		assertThat(this.events).hasSize(2);
	}

	@Test
	void renewalsAreAnnounced() {
		this.registry.addListener(this.events::add);
		LockHandle handle = this.registry.acquire(request("key", RENEWED_LEASE, Duration.ZERO));
		Awaitility.await().until(() -> this.events.size() >= 3);
		handle.release();
		Renewed first = (Renewed) this.events.get(1);
		Renewed second = (Renewed) this.events.get(2);
		assertThat(first.token()).isEqualTo(handle.token());
		assertThat(first.remaining()).isBetween(Duration.ofMillis(1), RENEWED_LEASE.minusMillis(5));
		assertThat(second.held()).isGreaterThan(first.held());
	}

	@Test
	void failedRenewalsAreAnnouncedBeforeTheLoss() {
		this.registry.addListener(this.events::add);
		this.store.renewalsFail = true;
		LockHandle handle = this.registry.acquire(request("key", RENEWED_LEASE, Duration.ZERO));
		Awaitility.await().until(() -> this.events.stream().anyMatch(Lost.class::isInstance));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		assertThat(this.events).filteredOn(Renewed.class::isInstance).isEmpty();
		RenewalFailed failed = (RenewalFailed) this.events.get(1);
		assertThat(failed.token()).isEqualTo(handle.token());
		assertThat(failed.remaining()).isBetween(Duration.ZERO, RENEWED_LEASE.minusMillis(5));
		assertThat(((Lost) this.events.get(this.events.size() - 1)).type()).isEqualTo(LossType.EXPIRED);
	}

	@Test
	void lossHasItsType() {
		this.registry.addListener(this.events::add);
		LockHandle overdue = this.registry
			.acquireAsync(LockRequest.builder("overdue").lease(RENEWED_LEASE).maxHold(RENEWED_LEASE).build())
			.join();
		LockHandle taken = this.registry.acquireAsync(request("taken", RENEWED_LEASE, LEASE)).join();
		this.store.memory.release("taken", this.registry.ownerOf(taken).orElseThrow());
		Awaitility.await().until(() -> !taken.isValid() && !overdue.isValid());
		LockHandle stopped = this.registry.acquireAsync(LockRequest.of("stopped")).join();
		this.registry.close();
		assertThat(stopped.isValid()).isFalse();
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.events).filteredOn(Lost.class::isInstance)
				.extracting((event) -> event.key() + " " + ((Lost) event).type())
				.containsExactlyInAnyOrder("overdue MAX_HOLD", "taken REFUSED", "stopped SHUTDOWN"));
	}

	@Test
	void releaseIsAnnouncedWhenTheLockIsFree() {
		this.registry.addListener((event) -> {
			if (event instanceof Released) {
				assertThat(isFreeInStore("key")).isTrue();
				assertThat(this.registry.queues().size()).isZero();
				this.events.add(event);
			}
		});
		this.registry.acquire("key").release();
		awaitEvents(Released.class);
	}

	@Test
	void releaseThatEndsWithAnErrorIsAnnounced() {
		this.registry.addListener(this.events::add);
		LockHandle handle = this.registry.acquire("key");
		this.store.releasesThrow = true;
		assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(handle::release);
		this.store.releasesThrow = false;
		awaitEvents(Acquired.class, Released.class);
	}

	@Test
	void r51LockGrantedDuringTheStopIsAnnouncedAsReleased() {
		this.registry.addListener(this.events::add);
		this.store.afterAcquire = this.registry::close;
		assertThatExceptionOfType(LockRegistryClosedException.class).isThrownBy(() -> this.registry.acquire("key"));
		assertThat(this.events).extracting(Object::getClass).containsExactly(Acquired.class, Released.class);
	}

	@Test
	void throwingListenerDoesNotMatterAndIsLoggedOnce() {
		try (CapturedLog log = CapturedLog.of(LockEvents.class).from(Level.DEBUG)) {
			this.registry.addListener(new Failing());
			this.registry.addListener(this.events::add);
			this.registry.acquire("key").release();
			this.store.down = true;
			assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(noWait("key")));
			this.store.down = false;
			awaitEvents(Acquired.class, Released.class, StoreFailed.class);
			assertThat(log.events()).extracting(ILoggingEvent::getLevel)
				.containsExactly(Level.WARN, Level.DEBUG, Level.DEBUG);
			assertThat(log.messages()).first().asString().contains(Failing.class.getName());
		}
	}

	@Test
	void virtualMachineErrorOfListenerLeavesNoLock() {
		this.registry.addListener(this.events::add);
		this.registry.addListener((event) -> {
			throw new OutOfMemoryError("of the listener");
		});
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> this.registry.acquire("key"));
		assertThat(this.registry.acquireAsync(LockRequest.of("key"))).failsWithin(LEASE)
			.withThrowableOfType(Exception.class)
			.withCauseInstanceOf(OutOfMemoryError.class);
		this.store.down = true;
		assertThat(this.registry.acquireAsync(noWait("key"))).failsWithin(LEASE)
			.withThrowableOfType(ExecutionException.class);
		this.store.down = false;
		assertThat(isFreeInStore("key")).isTrue();
		assertThat(this.registry.renewer().size()).isZero();
	}

	@Test
	void virtualMachineErrorOfListenerEndsTheFutureOfARelease() {
		LockHandle handle = this.registry.acquire("key");
		this.registry.addListener((event) -> {
			if (event instanceof LockEvent.Released) {
				throw new OutOfMemoryError("of the listener");
			}
		});
		LockHandle told = this.registry.acquire("told");
		assertThat(told.releaseAsync()).failsWithin(LEASE)
			.withThrowableOfType(Exception.class)
			.withCauseInstanceOf(OutOfMemoryError.class);
		assertThat(handle.releaseAsync()).succeedsWithin(LEASE);
		assertThat(isFreeInStore("told")).isTrue();
	}

	@Test
	void listenersAreCalledInOrder() {
		List<String> calls = new CopyOnWriteArrayList<>();
		for (String name : List.of("first", "second", "third")) {
			this.registry.addListener((event) -> calls.add(name));
		}
		this.registry.acquire("key").release();
		assertThat(calls).containsExactly("first", "second", "third", "first", "second", "third");
	}

	@Test
	void withoutListenersHoldsHaveNoDetails() {
		LeaseLockHandle handle = (LeaseLockHandle) this.registry.acquire("key");
		assertThat(LeaseInternals.hasDetails(handle.hold())).isFalse();
		this.registry.addListener(this.events::add);
		handle.release();
		assertThat(this.events).as("of a lock from before").isEmpty();
	}

	/**
	 * The time of this lock is watched, so that it has details without listeners.
	 */
	@Test
	void listenerIsNotToldOfLocksFromBefore() {
		LockHandle handle = this.registry.acquire(LockRequest.builder("key").maxHold(Duration.ofMinutes(5)).build());
		this.registry.addListener(this.events::add);
		handle.release();
		assertThat(this.events).isEmpty();
	}

	@Test
	void listenerThatIsRemovedLeavesNothing() {
		LockListener listener = this.events::add;
		this.registry.addListener(listener);
		LockHandle before = this.registry.acquire("before");
		assertThat(this.events).hasSize(1);
		this.registry.removeListener(listener);
		before.release();
		LeaseLockHandle handle = (LeaseLockHandle) this.registry.acquire("key");
		assertThat(LeaseInternals.hasDetails(handle.hold())).isFalse();
		handle.release();
		assertThat(this.events).hasSize(1);
	}

	@Test
	void blockingListenerDoesNotDelayRenewals() {
		CountDownLatch blocked = new CountDownLatch(1);
		CountDownLatch block = new CountDownLatch(1);
		this.registry.addListener((event) -> {
			if (event instanceof Renewed) {
				this.events.add(event);
				blocked.countDown();
				awaitQuietly(block);
			}
		});
		LockHandle handle = this.registry.acquire(request("key", RENEWED_LEASE, Duration.ZERO));
		awaitQuietly(blocked);
		CountDownLatch others = new CountDownLatch(1000);
		for (int i = 0; i < 1000; i++) {
			this.registry.threads().publishEvent(others::countDown);
		}
		int before = this.store.renewals.get();
		Awaitility.await().atMost(Patience.EVENTUALLY).until(() -> this.store.renewals.get() >= before + 3);
		assertThat(handle.isValid()).isTrue();
		handle.release();
		CountDownLatch told = new CountDownLatch(1);
		this.registry.threads().publishEvent(told::countDown);
		block.countDown();
		awaitQuietly(told);
		assertThat(others.getCount()).isZero();
		assertThat(this.events).as("not announced while many events wait").hasSizeLessThanOrEqualTo(before);
	}

	private static final class Failing implements LockListener {

		@Override
		public void onEvent(LockEvent event) {
			throw new IllegalStateException("of the listener");
		}

	}

}
