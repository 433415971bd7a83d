package io.dlock.engine;

import java.time.Duration;
import java.util.Objects;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.store.MailboxAddress;
import io.dlock.store.memory.Waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A writer that gives up while readers of another process hold the lock. As long as its
 * place stays in the queue of the store, new readers have to wait.
 */
class AbandonedPlaceTests extends AbstractMemberTests {

	private final LockRequest impatient = exclusive("key").waitTime(Duration.ofMillis(50)).build();

	@BeforeEach
	void queueProcess() {
		hold(this.other, shared("key").build());
		assertThat(this.registry.tryAcquire(this.impatient)).isEmpty();
		Awaitility.await().until(this.registry.membership()::isListening);
		awaitPlaceIsLeft();
	}

	private void awaitPlaceIsLeft() {
		Awaitility.await()
			.untilAsserted(() -> assertThat(Waiting.processes(this.store.memory, "key")).as("places").isZero());
	}

	@Test
	void placeOfACallWithoutAnAnswerIsLeft() {
		this.store.leavesAreLost = true;
		this.store.lostAcquireReplies.set(Integer.MAX_VALUE);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(this.impatient));
		assertThat(Waiting.processes(this.store.memory, "key")).isOne();
		this.store.leavesAreLost = false;
		awaitPlaceIsLeft();
	}

	@Test
	void placeIsLeftThoughTheFirstCallIsLost() {
		int before = this.store.leaves.get();
		this.store.leavesAreLost = true;
		assertThat(this.registry.tryAcquire(this.impatient)).isEmpty();
		Awaitility.await().until(() -> this.store.leaves.get() > before);
		assertThat(Waiting.processes(this.store.memory, "key")).isOne();
		this.store.leavesAreLost = false;
		awaitPlaceIsLeft();
	}

	@Test
	void placesInAFailingStoreCostFewCalls() {
		int before = this.store.leaves.get();
		MailboxAddress place = Objects.requireNonNull(this.registry.membership().address());
		for (int i = 0; i < 100; i++) {
			this.registry.membership().leaveLater("key-" + i, place);
		}
		Awaitility.await().untilAsserted(() -> assertThat(this.store.leaves.get() - before).isGreaterThanOrEqualTo(32));
		this.registry.membership().leaveLater("last", place);
		Awaitility.await().untilAsserted(() -> assertThat(this.store.leaves.get() - before).isGreaterThan(32));
		assertThat(this.store.leaves.get() - before).isEqualTo(33);
	}

}
