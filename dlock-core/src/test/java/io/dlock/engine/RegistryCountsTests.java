package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

import org.assertj.core.groups.Tuple;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.console.LockCount;
import io.dlock.console.LockKind;
import io.dlock.store.LockStore.AcquireCommand;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * The counts of held locks and waiting requests.
 */
class RegistryCountsTests extends AbstractHandOffTests {

	@Test
	void locksAreCountedFromGrantToRelease() throws Exception {
		assertCounts(0, 0);
		LockHandle one = this.registry.acquireAsync(request()).get();
		LockHandle other = this.registry.acquireAsync(LockRequest.of("other")).get();
		assertCounts(2, 0);
		one.release();
		assertCounts(1, 0);
		other.release();
		assertCounts(0, 0);
	}

	@Test
	void nestedHandlesShareOneLock() {
		try (LockHandle outer = this.registry.acquire("key"); LockHandle inner = this.registry.acquire("key")) {
			assertThat(inner.token()).isEqualTo(outer.token());
			assertCounts(1, 0);
		}
		assertCounts(0, 0);
	}

	@Test
	void waitersAreCountedUntilTheyHoldTheLock() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter();
		CompletableFuture<LockHandle> third = waiter();
		assertCounts(1, 2);
		first.release();
		LockHandle handedOver = second.get();
		assertCounts(1, 1);
		third.cancel(true);
		Awaitility.await().untilAsserted(() -> assertCounts(1, 0));
		handedOver.release();
		assertCounts(0, 0);
	}

	@Test
	void requestWaitingForAnotherProcessIsCounted() throws Exception {
		this.store.memory.acquire(new AcquireCommand("key", "elsewhere", LEASE, "elsewhere", ""));
		CompletableFuture<LockHandle> waiting = this.registry.acquireAsync(request());
		Awaitility.await().until(() -> this.store.acquires.get() > 0);
		assertCounts(0, 1);
		this.store.memory.release("key", "elsewhere");
		waiting.get().release();
		assertCounts(0, 0);
	}

	@Test
	void requestWaitingForTheStoreIsCounted() throws Exception {
		CountDownLatch release = new CountDownLatch(1);
		CountDownLatch arrived = this.store.holdAcquires(release);
		CompletableFuture<LockHandle> waiting = this.registry.acquireAsync(request());
		arrived.await();
		assertCounts(0, 1);
		release.countDown();
		waiting.get().release();
	}

	@Test
	void releasingRequestDoesNotWait() throws Exception {
		LockHandle handle = this.registry.acquireAsync(request()).get();
		this.store.beforeRelease = () -> assertCounts(0, 0);
		handle.release();
		assertThat(this.store.releases).hasValue(1);
		assertThat(this.store.memory.find("key")).as("an assertion that fails is a failed release").isEmpty();
	}

	@Test
	void lostLockIsNotHeld() throws Exception {
		LockHandle handle = this.registry.acquireAsync(request()).get();
		this.clock.pass(Duration.ofSeconds(11));
		assertThat(handle.isValid()).isFalse();
		assertCounts(0, 0);
	}

	private void assertCounts(int held, int waiting) {
		assertThat(this.registry.counts().held()).as("held").isEqualTo(held);
		assertThat(this.registry.counts().waiting()).as("waiting").isEqualTo(waiting);
		assertThat(counted()).as("by name")
			.isEqualTo((held + waiting > 0) ? List.of(tuple("", LockKind.EXCLUSIVE, held, waiting)) : List.of());
	}

	/**
	 * A timer records a hold when it ends; a gauge shows one that does not end.
	 */
	@Test
	void longestHoldIsTheOldestOfEachName() throws Exception {
		assertThat(longestHolds()).isEmpty();
		LockHandle old = this.registry.acquireAsync(LockRequest.builder("key").name("a").build()).get();
		this.clock.pass(Duration.ofSeconds(3));
		LockHandle young = this.registry.acquireAsync(LockRequest.builder("young").name("a").build()).get();
		LockHandle nameless = this.registry.acquireAsync(LockRequest.of("other")).get();
		this.clock.pass(Duration.ofSeconds(2));
		assertThat(longestHolds()).isEqualTo(Map.of("a", Duration.ofSeconds(5), "", Duration.ofSeconds(2)));
		old.release();
		assertThat(longestHolds()).containsEntry("a", Duration.ofSeconds(2));
		young.release();
		this.store.beforeRelease = () -> assertThat(longestHolds()).as("released").isEmpty();
		nameless.release();
		assertThat(this.store.memory.find("other")).isEmpty();
	}

	private Map<String, Duration> longestHolds() {
		return this.registry.counts()
			.byName()
			.stream()
			.collect(Collectors.toMap(LockCount::name, LockCount::longestHold));
	}

	@Test
	void locksAreCountedByNameAndKind() throws Exception {
		LockHandle first = this.registry.acquireAsync(LockRequest.builder("key").name("a").build()).get();
		LockHandle other = this.registry.acquireAsync(LockRequest.of("other")).get();
		LockHandle reader = this.registry
			.acquireAsync(LockRequest.builder("read").name("a").mode(LockMode.SHARED).build())
			.get();
		LockHandle permit = this.registry.acquirePermitAsync(LockRequest.builder("limit").name("a").build(), 1).get();
		CompletableFuture<LockHandle> waiting = this.registry
			.acquireAsync(LockRequest.builder("key").name("b").build());
		Awaitility.await().until(() -> this.registry.counts().waiting() == 1);
		assertThat(counted()).containsExactlyInAnyOrder(tuple("a", LockKind.EXCLUSIVE, 1, 0),
				tuple("", LockKind.EXCLUSIVE, 1, 0), tuple("a", LockKind.SHARED, 1, 0),
				tuple("a", LockKind.PERMIT, 1, 0), tuple("b", LockKind.EXCLUSIVE, 0, 1));
		reader.release();
		permit.release();
		first.release();
		assertThat(counted()).as("of the successor")
			.contains(tuple("", LockKind.EXCLUSIVE, 1, 0))
			.doesNotContain(tuple("a", LockKind.EXCLUSIVE, 1, 0));
		waiting.get().release();
		other.release();
	}

	private List<Tuple> counted() {
		return this.registry.counts()
			.byName()
			.stream()
			.map((count) -> tuple(count.name(), count.kind(), count.held(), count.waiting()))
			.toList();
	}

}
