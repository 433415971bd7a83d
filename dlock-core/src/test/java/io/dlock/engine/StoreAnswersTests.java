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
 * The memory of the answers of a store, by which congestion and an outage differ.
 */
class StoreAnswersTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private final TurnedClock clock = new TurnedClock();

	private final StoreAcquirer acquirer = new StoreAcquirer(mock(LockStore.class), mock(StoreQueuePlaces.class),
			mock(StoreQueueMembership.class), this.clock, TIMEOUT.toNanos());

	@Test
	void storeAnswersForTwoTimeoutsAfterItsLatestAnswer() {
		assertThat(this.acquirer.isStoreAnswering()).as("before its first answer").isFalse();
		this.clock.pass(TIMEOUT);
		this.acquirer.storeAnswered(this.clock.now());
		this.clock.pass(TIMEOUT.multipliedBy(19).dividedBy(10));
		this.acquirer.storeAnswered(this.clock.now());
		this.clock.pass(TIMEOUT.multipliedBy(19).dividedBy(10));
		assertThat(this.acquirer.isStoreAnswering()).isTrue();
		this.clock.pass(TIMEOUT.dividedBy(10));
		assertThat(this.acquirer.isStoreAnswering()).isFalse();
	}

}
