package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockEvent;
import io.dlock.LockEvent.Acquired;
import io.dlock.LockEvent.Lost;
import io.dlock.LockEvent.Released;
import io.dlock.LockHandle;
import io.dlock.LockLostException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Times in events, and events of locks that are passed on, on a clock that stands still.
 */
class HandOffEventsTests extends AbstractHandOffTests {

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	@Test
	void eventsHaveTheTimesOfRequestAndHold() {
		this.registry.addListener(this.events::add);
		this.store.beforeAcquire = () -> this.clock.pass(Duration.ofSeconds(2));
		LockHandle handle = this.registry.acquire(request());
		this.clock.pass(Duration.ofSeconds(3));
		handle.release();
		assertThat(this.events).containsExactly(new Acquired("key", null, null, handle.token(), Duration.ofSeconds(2)),
				new Released("key", null, null, handle.token(), Duration.ofSeconds(3),
						LEASE.minusMillis(100 + 2).minusSeconds(5)));
	}

	@Test
	void handOffIsAnnouncedAsReleaseAndAcquisition() throws Exception {
		this.registry.addListener(this.events::add);
		LockHandle first = this.registry.acquire(request());
		this.clock.pass(Duration.ofMillis(2));
		CompletableFuture<LockHandle> waiter = waiter();
		this.clock.pass(Duration.ofMillis(3));
		first.release();
		LockHandle second = waiter.get();
		this.clock.pass(Duration.ofMillis(4));
		second.release();
		assertThat(second.token()).as("passed on").isEqualTo(first.token() + 1);
		Duration validity = LEASE.minusMillis(100 + 2);
		assertThat(this.events).containsExactlyInAnyOrder(new Acquired("key", null, null, first.token(), Duration.ZERO),
				new Released("key", null, null, first.token(), Duration.ofMillis(5), validity.minusMillis(5)),
				new Acquired("key", null, null, second.token(), Duration.ofMillis(3)),
				new Released("key", null, null, second.token(), Duration.ofMillis(4), validity.minusMillis(9)));
	}

	@Test
	void lossAfterHandOffIsAnnouncedForTheLastHolderOnly() throws Exception {
		this.registry.addListener(this.events::add);
		LockHandle first = this.registry.acquire(request());
		CompletableFuture<LockHandle> waiter = waiter();
		first.release();
		LockHandle second = waiter.get();
		this.clock.pass(LEASE);
		assertThat(second.isValid()).isFalse();
		Awaitility.await().until(() -> this.events.stream().anyMatch(Lost.class::isInstance));
		assertThat(this.events).filteredOn(Lost.class::isInstance)
			.singleElement()
			.satisfies((lost) -> assertThat(((Lost) lost).token()).isEqualTo(second.token()));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(second::release);
		assertThat(this.events).hasSize(4);
	}

}
