package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockSettings;
import io.dlock.engine.queue.StoreQueueMembership;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.store.memory.Waiting;
import io.dlock.test.Patience;
import io.dlock.test.ShortTurns;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Fair requests are served in the order in which the store saw them.
 */
@Timeout(300)
class FairLockTests {

	private final MemoryLockStore memory = new MemoryLockStore();

	private final FairRequests requests = new FairRequests(List.of(this.memory, this.memory, this.memory));

	private final LockRequest fair = this.requests.fair;

	@AfterEach
	void nothingIsLeft() {
		this.requests.close();
		assertThat(this.memory.find(this.fair.key())).isEmpty();
		assertThat(Waiting.processes(this.memory, this.fair.key())).isZero();
		assertThat(Waiting.mailboxes(this.memory)).isZero();
	}

	private LockHandle hold() {
		return this.requests.registry(0).acquireAsync(this.fair).join();
	}

	@Test
	void thousandRequestsOfThreeInstancesAreServedInTheirOrder() {
		LockHandle held = hold();
		for (int i = 0; i < 1000; i++) {
			this.requests.request(i, this.fair);
		}
		held.release();
		this.requests.assertGrantedInOrder(1000);
	}

	@Test
	void turnsOfFiftyMillisecondsAreEnough() {
		ShortTurns.await(() -> FairRequests.areServedInOrder(List.of(this.memory, this.memory, this.memory)));
	}

	@Test
	void threadsAreServedInTheirOrder() throws Exception {
		LockHandle held = hold();
		List<CompletableFuture<Boolean>> threads = new ArrayList<>();
		for (int i = 0; i < 12; i++) {
			int number = i;
			threads.add(AbstractLeaseLockRegistryTests.inOtherThread(() -> this.requests.registry(number / 2)
				.execute(this.fair, (handle) -> this.requests.granted.add(number))));
			this.requests.awaitQueued(i + 1);
		}
		held.release();
		for (CompletableFuture<Boolean> thread : threads) {
			thread.get();
		}
		this.requests.assertGrantedInOrder(12);
	}

	@Test
	void requestThatGivesUpLeavesTheOthersTheirPlaces() {
		LockHandle held = hold();
		List<CompletableFuture<LockHandle>> leaving = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			int queued = this.requests.queued();
			leaving.add(this.requests.registry(i / 2).acquireAsync(this.fair));
			this.requests.awaitQueued(queued + 1);
			this.requests.request(i, this.fair);
		}
		leaving.forEach((request) -> request.cancel(false));
		held.release();
		this.requests.assertGrantedInOrder(20);
	}

	@Test
	void otherRequestsOfAProcessHaveOnePlaceInTheOrder() {
		LockRequest unfair = LockRequest.of(this.fair.key());
		LockHandle held = hold();
		this.requests.request(0, this.fair);
		this.requests.request(1, unfair);
		this.requests.request(2, this.fair);
		this.requests.request(3, this.fair);
		held.release();
		this.requests.assertGrantedInOrder(4);
	}

	@Test
	void deadRequestsDelayTheOthersAndChangeNoOrder() {
		LockHandle held = hold();
		for (int i = 0; i < 30; i++) {
			if (i % 10 == 0) {
				queueDead(i);
			}
			this.requests.request(i, this.fair);
		}
		held.release();
		this.requests.assertGrantedInOrder(30);
	}

	/**
	 * An instance that has died had all its threads in the queue.
	 */
	@Test
	void requestBehindManyDeadOnesWaitsForTheirTurnsOnly() {
		LockHandle held = hold();
		for (int i = 0; i < 40; i++) {
			queueDead(i);
		}
		this.requests.request(0, this.fair);
		held.release();
		this.requests.assertGrantedInOrder(1);
	}

	private void queueDead(int number) {
		this.memory.acquire(new AcquireCommand(this.fair.key(), "dead " + number, Duration.ofSeconds(30), "dead", "",
				MailboxAddress.create(Duration.ofMillis(50)).ofRequest(number), true, null));
	}

	@Test
	void messageToARequestThatIsGoneIsPassedOn() {
		StoreQueueMembership membership = this.requests.registry(0).membership();
		membership.listen();
		Awaitility.await().until(membership::isListening);
		LockHandle held = hold();
		MailboxAddress gone = membership.newAddress();
		assertThat(gone.isOfRequest()).isTrue();
		PatientStore store = this.requests.stores.get(0);
		store
			.acquire(new AcquireCommand(this.fair.key(), "gone", Duration.ofSeconds(30), "gone", "", gone, true, null));
		CompletableFuture<LockHandle> waiting = this.requests.request(1, this.fair);
		held.release();
		assertThat(waiting).succeedsWithin(Patience.EVENTUALLY);
		assertThat(store.left()).contains(gone);
		this.requests.done.get(0).join();
	}

	@Test
	void fairLockCanBeDowngraded() {
		LockHandle held = this.requests.registry(0).acquire(this.fair);
		LockHandle reading = held.downgrade();
		assertThat(this.requests.registry(1).tryAcquire(this.fair.withMode(LockMode.SHARED))).isPresent()
			.get()
			.satisfies(LockHandle::release);
		reading.release();
		assertThat(this.requests.registry(0).queues().size()).isZero();
	}

	@Test
	void setOfFairLocksHasItsPlaceInTheOrderOfTheKeyThatItWaitsFor() {
		LeaseLockRegistry registry = this.requests.registry(0);
		List<String> keys = List.of(this.fair.key(), this.fair.key() + "/2", this.fair.key() + "/3");
		registry.acquireAll(this.fair, keys).close();
		LockHandle held = hold();
		this.requests.request(0, this.fair);
		CompletableFuture<LockSet> set = registry.acquireAllAsync(this.fair, keys);
		this.requests.awaitQueued(2);
		CompletableFuture<LockHandle> last = this.requests.registry(1).acquireAsync(this.fair);
		this.requests.awaitQueued(3);
		held.release();
		assertThat(set).succeedsWithin(Patience.EVENTUALLY);
		assertThat(last).isNotDone();
		set.join().close();
		last.join().release();
		this.requests.assertGrantedInOrder(1);
	}

	@Test
	void defaultOfTheRegistryIsForRequestsThatSayNothing() {
		LockSettings settings = LockSettings.builder().fair(true).build();
		assertThat(settings.isFair(LockRequest.of("key"))).isTrue();
		assertThat(settings.isFair(LockRequest.builder("key").fair(false).build())).isFalse();
		assertThat(settings.toBuilder().build().fair()).isTrue();
		assertThat(LockSettings.defaults().isFair(this.fair)).isTrue();
		assertThat(LockSettings.defaults().isFair(LockRequest.of("key"))).isFalse();
	}

}
