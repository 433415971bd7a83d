package io.dlock.engine;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.engine.queue.StoreQueueMembership;
import io.dlock.engine.queue.StoreQueuePlaces;
import io.dlock.store.LockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * The memory of the failures of a store, by which congestion and an outage differ.
 */
class StoreAnswersTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private final TurnedClock clock = new TurnedClock();

	private final StoreAcquirer acquirer = new StoreAcquirer(mock(LockStore.class), mock(StoreQueuePlaces.class),
			mock(StoreQueueMembership.class), this.clock, TIMEOUT.toNanos());

	@Test
	void storeFailsForTwoTimeoutsAfterItsLatestFailure() {
		assertThat(this.acquirer.isStoreFailing()).as("before its first failure").isFalse();
		this.acquirer.storeFailed(this.clock.now());
		this.clock.pass(TIMEOUT.multipliedBy(19).dividedBy(10));
		this.acquirer.storeFailed(this.clock.now());
		this.clock.pass(TIMEOUT.multipliedBy(19).dividedBy(10));
		assertThat(this.acquirer.isStoreFailing()).isTrue();
		this.clock.pass(TIMEOUT.dividedBy(10));
		assertThat(this.acquirer.isStoreFailing()).as("silence may be that of this process").isFalse();
	}

	@Test
	void storeFailsUntilItAnswers() {
		this.acquirer.storeFailed(this.clock.now());
		this.acquirer.storeAnswered();
		assertThat(this.acquirer.isStoreFailing()).isFalse();
	}

}
