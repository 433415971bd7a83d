package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockCongestedException;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.store.StoreCongestedException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A process that calls the store more often than its connections allow has no outage.
 */
class CongestionTests extends AbstractLeaseLockRegistryTests {

	@Test
	void a5CongestionIsNoOutageForCallersAndListeners() {
		List<LockEvent> events = new CopyOnWriteArrayList<>();
		this.registry.addListener(events::add);
		this.store.beforeAcquire = CongestionTests::congested;
		LockRequest request = LockRequest.builder("key").waitTime(Duration.ZERO).failOpen(true).build();
		assertThatExceptionOfType(LockCongestedException.class).isThrownBy(() -> this.registry.acquire(request))
			.withMessageContaining("no connection became free")
			.withMessageContaining("not held");
		Awaitility.await().until(() -> !events.isEmpty());
		assertThat(events).singleElement()
			.isInstanceOfSatisfying(LockEvent.StoreFailed.class, (failed) -> assertThat(failed.failOpen()).isFalse());
	}

	@Test
	void a5CongestionIsWaitedOutForTheWholeWaitTime() {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry congested = new LeaseLockRegistry(this.store, this.settings, clock);
		AtomicInteger calls = new AtomicInteger();
		this.store.beforeAcquire = () -> {
			if (calls.incrementAndGet() <= 3) {
				clock.pass(LEASE);
				congested();
			}
		};
		LockHandle handle = congested.acquire(request("key", LEASE, Duration.ofMinutes(5)));
		assertThat(calls).hasValue(4);
		handle.release();
		congested.close();
	}

	private static void congested() {
		throw new StoreCongestedException("no connection became free", null);
	}

}
