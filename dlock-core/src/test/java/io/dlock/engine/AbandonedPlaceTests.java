package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.store.MailboxAddress;
import io.dlock.store.memory.Waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A writer that gives up while readers of another process hold the lock. As long as its
 * place stays in the queue of the store, new readers have to wait.
 */
class AbandonedPlaceTests extends AbstractMemberTests {

	/** A request whose time is over before its call is not queued, and is repeated. */
	private final LockRequest impatient = exclusive("key").waitTime(Duration.ofMillis(50)).build();

	@BeforeEach
	void listen() {
		hold(this.other, shared("key").build());
		this.registry.membership().listen();
		Awaitility.await().until(() -> this.registry.membership().address() != null);
	}

	private int places() {
		return Waiting.processes(this.store.memory, "key");
	}

	private void awaitPlaceIsLeft() {
		Awaitility.await().untilAsserted(() -> assertThat(places()).as("places").isZero());
	}

	@Test
	void placeOfACallWithoutAnAnswerIsLeft() {
		this.store.leavesAreLost = true;
		this.store.lostAcquireReplies.set(Integer.MAX_VALUE);
		do {
			assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire(this.impatient));
		}
		while (places() == 0);
		this.store.leavesAreLost = false;
		awaitPlaceIsLeft();
	}

	@Test
	void placeIsLeftThoughTheFirstCallIsLost() {
		int before = this.store.leaves.get();
		this.store.leavesAreLost = true;
		do {
			assertThat(this.registry.tryAcquire(this.impatient)).isEmpty();
		}
		while (places() == 0);
		Awaitility.await().until(() -> this.store.leaves.get() > before);
		assertThat(places()).isOne();
		this.store.leavesAreLost = false;
		awaitPlaceIsLeft();
	}

	@Test
	void callsThatLeaveAPlaceBecomeRarer() {
		List<Long> times = new CopyOnWriteArrayList<>();
		this.store.leavesAreLost = true;
		this.store.beforeLeave = () -> times.add(System.nanoTime());
		MailboxAddress place = Objects.requireNonNull(this.registry.membership().address());
		this.registry.membership().leaveLater("no-request", place);
		Awaitility.await().until(() -> times.size() > 1);
		assertThat(Duration.ofNanos(times.get(1) - times.get(0))).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void placesInAFailingStoreCostFewCalls() {
		int before = this.store.leaves.get();
		MailboxAddress place = Objects.requireNonNull(this.registry.membership().address());
		CountDownLatch noted = new CountDownLatch(1);
		for (int i = 0; i < EngineThreads.WORKERS; i++) {
			this.registry.threads().executeWork(() -> awaitQuietly(noted));
		}
		for (int i = 0; i < 100; i++) {
			this.registry.membership().leaveLater("key-" + i, place);
		}
		noted.countDown();
		Awaitility.await().untilAsserted(() -> assertThat(this.store.leaves.get() - before).isGreaterThanOrEqualTo(32));
		this.registry.membership().leaveLater("last", place);
		Awaitility.await().untilAsserted(() -> assertThat(this.store.leaves.get() - before).isGreaterThan(32));
		assertThat(this.store.leaves.get() - before).isEqualTo(33);
	}

}
