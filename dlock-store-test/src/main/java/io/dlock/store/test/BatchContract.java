package io.dlock.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.ReleaseCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.ReleaseResult;
import io.dlock.store.StorageKey;
import io.dlock.store.test.LockStoreContract.Feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Each key of a batch is decided by itself and answered at its place.
 */
abstract class BatchContract extends ContractPart {

	private final MailboxAddress mailbox = MailboxAddress.create(Duration.ofSeconds(9));

	BatchContract(LockStoreContract contract) {
		super(contract);
	}

	/**
	 * A store may need a call to know whether it can acquire keys together.
	 */
	@BeforeEach
	void callTheStore() {
		store().find(key());
	}

	private List<String> keys(int count) {
		return IntStream.range(0, count)
			.mapToObj((i) -> key() + "/\"}]\\'ä," + i)
			.sorted(Comparator.comparing(StorageKey::of))
			.toList();
	}

	/**
	 * Acquire keys, of which the first may be queued for.
	 */
	private List<AcquireResult> acquireAll(List<String> keys, String owner, @Nullable MailboxAddress address) {
		return store().acquireAll(keys.stream()
			.map((key) -> new AcquireCommand(key, owner, LEASE, "holder " + owner, REASON, address,
					address != null && key.equals(keys.get(0)), null))
			.toList());
	}

	private List<ReleaseResult> releaseAll(List<String> keys, String owner) {
		return store().releaseAll(keys.stream().map((key) -> new ReleaseCommand(key, owner)).toList());
	}

	@Test
	void emptyBatchHasNoAnswers() {
		assertThat(store().acquireAll(List.of())).isEmpty();
		assertThat(store().releaseAll(List.of())).isEmpty();
	}

	@Test
	void eachKeyIsAcquiredWithATokenOfItsOwnAndReleased() {
		List<String> keys = keys(64);
		List<AcquireResult> first = acquireAll(keys, "a", null);
		assertThat(first).hasSize(64).allSatisfy(ContractPart::granted);
		for (int i = 0; i < 64; i += 9) {
			assertThat(store().find(keys.get(i))).get()
				.satisfies((lock) -> assertThat(lock.holder()).isEqualTo("holder a"));
			assertThat(remaining(keys.get(i))).isBetween(LEASE.minus(LONG), LEASE);
		}
		assertThat(acquireAll(keys, "a", null)).as("idempotent").isEqualTo(first);
		assertThat(releaseAll(keys, "a")).hasSize(64).containsOnly(ReleaseResult.RELEASED);
		assertThat(releaseAll(keys, "a")).hasSize(64).containsOnly(ReleaseResult.REFUSED);
		List<AcquireResult> second = acquireAll(keys, "b", null);
		for (int i = 0; i < 64; i++) {
			assertThat(granted(second.get(i))).isGreaterThan(granted(first.get(i)));
		}
	}

	@Test
	void r6RepeatedBatchShortensNoLease() {
		List<String> keys = keys(3);
		acquireAll(keys, "a", null).forEach(ContractPart::granted);
		store().acquireAll(keys.stream().map((key) -> new AcquireCommand(key, "a", LONG, "holder a", REASON)).toList())
			.forEach(ContractPart::granted);
		keys.forEach((key) -> assertThat(remaining(key)).isBetween(LEASE.minus(LONG), LEASE));
	}

	@Test
	void r12TokensOfABatchRiseAfterTheStoreLostItsData() throws Exception {
		List<String> keys = keys(3);
		List<AcquireResult> before = acquireAll(keys, "a", null);
		contract().loseEverything();
		List<AcquireResult> after = acquireAll(keys, "b", null);
		for (int i = 0; i < 3; i++) {
			assertThat(granted(after.get(i))).isGreaterThan(granted(before.get(i)));
		}
	}

	@Test
	void r14TokenOfABatchRisesThoughTheClockIsBehindTheLastOne() throws Exception {
		granted(acquire("a", LEASE));
		release("a");
		long future = 4_000_000_000_000_000L;
		contract().setLastToken(future);
		assertThat(granted(acquireAll(List.of(key()), "b", null).get(0))).isEqualTo(future + 1);
	}

	@Test
	void membersAreReleasedTogetherWithOtherOwners() {
		assumeTrue(store().supportsMembers(), "The store supports no members");
		List<ReleaseCommand> releases = List.of(new ReleaseCommand(key() + "/1", "a"),
				new ReleaseCommand(key() + "/2", "+a"), new ReleaseCommand(key() + "/3", "+b"));
		releases.forEach((release) -> acquire(release.key(), release.owner(), LEASE));
		assertThat(store().releaseAll(releases)).hasSize(3).containsOnly(ReleaseResult.RELEASED);
		releases.forEach((release) -> granted(acquire(release.key(), "next", LEASE)));
	}

	@Test
	void refusedKeyKeepsNoOtherFromBeingGranted() {
		List<String> keys = keys(5);
		acquire(keys.get(1), "held", LEASE);
		acquire(keys.get(3), "held", LEASE);
		acquire(keys.get(4), "over", shortLease());
		await().until(() -> store().find(keys.get(4)).isEmpty());
		List<AcquireResult> results = acquireAll(keys, "a", null);
		granted(results.get(0));
		assertThat(refused(results.get(1)).remaining()).isBetween(LEASE.minus(LONG), LEASE);
		assertThat(refused(results.get(1)).lock()).isNotNull()
			.satisfies((lock) -> assertThat(lock.holder()).isEqualTo("holder held"));
		granted(results.get(2));
		refused(results.get(3));
		granted(results.get(4));
		assertThat(releaseAll(keys, "a")).containsExactly(ReleaseResult.RELEASED, ReleaseResult.REFUSED,
				ReleaseResult.RELEASED, ReleaseResult.REFUSED, ReleaseResult.RELEASED);
		assertThat(releaseAll(keys, "held")).containsExactly(ReleaseResult.REFUSED, ReleaseResult.RELEASED,
				ReleaseResult.REFUSED, ReleaseResult.RELEASED, ReleaseResult.REFUSED);
	}

	@Test
	void r16LeaseOfABatchThatIsOverIsNotReleased() {
		List<String> keys = keys(2);
		acquire(keys.get(0), "a", shortLease());
		acquire(keys.get(1), "a", LEASE);
		await().until(() -> store().find(keys.get(0)).isEmpty());
		assertThat(releaseAll(keys, "a")).containsExactly(ReleaseResult.REFUSED, ReleaseResult.RELEASED);
		acquireAll(keys, "b", null).forEach(ContractPart::granted);
	}

	@Test
	void refusedKeyIsQueuedForIfTheCommandSaysSo() {
		require(Feature.QUEUE);
		List<String> keys = keys(3);
		keys.forEach((key) -> acquire(key, "held", LEASE));
		acquireAll(keys, "a", this.mailbox).forEach(ContractPart::refused);
		assertThat(releaseAll(keys, "held")).containsOnly(ReleaseResult.RELEASED);
		refused(acquire(keys.get(0), "stranger", LEASE));
		granted(acquire(keys.get(1), "stranger", LEASE));
		List<AcquireResult> results = acquireAll(keys, "a", this.mailbox);
		granted(results.get(0));
		refused(results.get(1));
		granted(results.get(2));
		assertThat(releaseAll(keys, "a")).containsExactly(ReleaseResult.RELEASED, ReleaseResult.REFUSED,
				ReleaseResult.RELEASED);
		granted(acquire(keys.get(0), "stranger", LEASE));
	}

	@Test
	void releaseOfABatchNotifiesTheHeadOfEachQueue() {
		require(Feature.MAILBOX);
		List<String> keys = keys(3);
		Queue<String> calls = new ConcurrentLinkedQueue<>();
		try (Mailbox opened = store().openMailbox(this.mailbox, calls::add)) {
			assertThat(opened).isNotNull();
			acquireAll(keys, "a", null);
			refused(ask(keys.get(0), "b", this.mailbox, true, null));
			refused(ask(keys.get(2), "b", this.mailbox, true, null));
			releaseAll(keys, "a");
			await().untilAsserted(() -> assertThat(calls).containsExactlyInAnyOrder(StorageKey.of(keys.get(0)),
					StorageKey.of(keys.get(2))));
			refused(acquire(keys.get(0), "stranger", LEASE));
			granted(ask(keys.get(2), "b", this.mailbox, true, null));
		}
	}

	/**
	 * Batches of overlapping keys neither fail nor have a key both at a time. A caller
	 * that finds all keys held goes on until it gets one.
	 */
	@Test
	void overlappingBatchesDoNotBlockEachOther() throws Exception {
		List<String> keys = keys(6);
		List<Callable<Integer>> callers = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			Random random = new Random(i);
			String owner = "caller " + i;
			callers.add(() -> {
				int granted = 0;
				long end = System.nanoTime() + LEASE.toNanos();
				for (int round = 0; round < 25 || (granted == 0 && System.nanoTime() < end); round++) {
					List<String> some = new ArrayList<>(keys);
					Collections.shuffle(some, random);
					some = some.subList(0, 4).stream().sorted(Comparator.comparing(StorageKey::of)).toList();
					List<AcquireResult> results = acquireAll(some, owner, null);
					assertThat(results).noneMatch(AcquireResult.Failed.class::isInstance);
					List<ReleaseResult> released = releaseAll(some, owner);
					for (int n = 0; n < 4; n++) {
						boolean held = results.get(n) instanceof Granted;
						assertThat(released.get(n)).isEqualTo(held ? ReleaseResult.RELEASED : ReleaseResult.REFUSED);
						granted += held ? 1 : 0;
					}
				}
				return granted;
			});
		}
		assertThat(inThreads(4, callers)).allSatisfy((granted) -> assertThat(granted).isPositive());
		acquireAll(keys, "last", null).forEach(ContractPart::granted);
	}

}
