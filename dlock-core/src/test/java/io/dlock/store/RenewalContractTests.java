package io.dlock.store;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The renewal of leases, for every store.
 */
public abstract class RenewalContractTests extends LockStoreContractTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	@Test
	void renewalKeepsTheLockBeyondItsLease() {
		Duration lease = Duration.ofSeconds(2);
		acquire("a", lease);
		Instant end = Instant.now().plus(lease).plusMillis(500);
		Awaitility.await().pollInterval(Duration.ofMillis(50)).until(() -> {
			assertThat(renew("a", lease)).isEqualTo(RenewResult.RENEWED);
			assertThat(acquire("b", LEASE)).isInstanceOf(Refused.class);
			return Instant.now().isAfter(end);
		});
	}

	@Test
	void r6RenewalNeverShortens() {
		acquire("a", LEASE);
		assertThat(renew("a", Duration.ofMillis(10))).isEqualTo(RenewResult.RENEWED);
		assertThat(acquire("b", LEASE)).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(refused.remaining()).isGreaterThan(Duration.ofSeconds(10)));
	}

	@Test
	void r16RenewalByAnotherOwnerChangesNothing() {
		acquire("a", LEASE);
		assertThat(renew("b", Duration.ofHours(1))).isEqualTo(RenewResult.REFUSED);
		assertThat(acquire("c", LEASE)).isInstanceOfSatisfying(Refused.class,
				(refused) -> assertThat(refused.remaining()).isLessThanOrEqualTo(LEASE));
	}

	@Test
	void r43TwoRenewalsAtOnceAreBothConfirmed() {
		acquire("a", LEASE);
		assertThat(store().renew(List.of(renewal("a", LEASE), renewal("a", LEASE))))
			.containsExactly(RenewResult.RENEWED, RenewResult.RENEWED);
	}

	@Test
	void b3RenewalAfterReleaseIsRefusedAndRevivesNothing() {
		acquire("a", LEASE);
		store().release(key(), "a");
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.REFUSED);
		assertThat(store().find(key())).isEmpty();
		assertThat(acquire("b", LEASE)).isInstanceOf(Granted.class);
	}

	@Test
	void renewalOfALeaseThatIsOverRevivesNothing() {
		acquire("a", Duration.ofMillis(50));
		Awaitility.await().until(() -> store().find(key()).isEmpty());
		assertThat(renew("a", LEASE)).isEqualTo(RenewResult.REFUSED);
		assertThat(acquire("b", LEASE)).isInstanceOf(Granted.class);
	}

	@Test
	void batchOfRenewalsAnswersInOrder() {
		acquire("a", LEASE);
		String other = key() + "/other";
		store().acquire(new AcquireCommand(other, "b", LEASE, "holder b", ""));
		assertThat(store()
			.renew(List.of(renewal("a", LEASE), renewal("stranger", LEASE), new RenewCommand(other, "b", LEASE))))
			.containsExactly(RenewResult.RENEWED, RenewResult.REFUSED, RenewResult.RENEWED);
		assertThat(store().renew(List.of())).isEmpty();
	}

	@Test
	void eachRenewalOfABatchIsDecidedByItself() {
		List<String> keys = List.of(key() + "/c", key() + " ä/b", key() + "/a", key() + "/d", key() + "/e",
				key() + "/f");
		acquire(keys.get(0), "held", LEASE);
		acquire(keys.get(1), "over", Duration.ofMillis(50));
		acquire(keys.get(2), "taken over", Duration.ofMillis(50));
		acquire(keys.get(3), "released", LEASE);
		store().release(keys.get(3), "released");
		acquire(keys.get(5), "\"}]\\'", LEASE);
		Awaitility.await().until(() -> acquire(keys.get(2), "successor", LEASE) instanceof Granted);
		Awaitility.await().until(() -> store().find(keys.get(1)).isEmpty());
		List<RenewCommand> batch = new ArrayList<>();
		List.of("held", "over", "taken over", "released", "unknown")
			.forEach((owner) -> batch.add(new RenewCommand(keys.get(batch.size()), owner, Duration.ofHours(1))));
		batch.add(new RenewCommand(keys.get(5), "\"}]\\'", Duration.ofMinutes(2)));
		assertThat(store().renew(batch)).containsExactly(RenewResult.RENEWED, RenewResult.REFUSED, RenewResult.REFUSED,
				RenewResult.REFUSED, RenewResult.REFUSED, RenewResult.RENEWED);
		assertThat(remaining(keys.get(0))).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(61));
		assertThat(remaining(keys.get(2))).isLessThanOrEqualTo(LEASE);
		assertThat(remaining(keys.get(5))).isBetween(Duration.ofSeconds(90), Duration.ofSeconds(121));
		assertThat(store().find(keys.get(1))).isEmpty();
		assertThat(store().find(keys.get(3))).isEmpty();
		assertThat(store().find(keys.get(4))).isEmpty();
	}

	/**
	 * Every third is taken over from round to round, and no answer is that of a
	 * neighbour.
	 */
	@Test
	void answersOfALargeBatchAreThoseOfItsLeasesInEveryRound() {
		List<RenewCommand> batch = new ArrayList<>();
		for (int i = 0; i < 30; i++) {
			// not in the order of the keys
			String each = key() + "/" + (i * 7 % 30);
			acquire(each, "owner " + i, LEASE);
			batch.add(new RenewCommand(each, "owner " + i, Duration.ofMinutes(1 + i)));
		}
		List<RenewResult> expected = new ArrayList<>(Collections.nCopies(30, RenewResult.RENEWED));
		for (int round = 0; round < 3; round++) {
			for (int i = round; i < 30; i += 5) {
				store().release(batch.get(i).key(), batch.get(i).owner());
				if (i % 2 == 0) {
					acquire(batch.get(i).key(), "successor", LEASE);
				}
				expected.set(i, RenewResult.REFUSED);
			}
			assertThat(store().renew(batch)).isEqualTo(expected);
		}
		for (int i = 3; i < 30; i += 5) {
			assertThat(remaining(batch.get(i).key())).isBetween(Duration.ofMinutes(i), Duration.ofMinutes(1 + i));
		}
		for (int i = 0; i < 30; i += 10) {
			assertThat(remaining(batch.get(i).key())).as("of the successor").isLessThanOrEqualTo(LEASE);
		}
	}

	@Test
	void longerOfTwoRenewalsOfOneLeaseCounts() {
		acquire("a", LEASE);
		RenewCommand longer = renewal("a", Duration.ofHours(1));
		assertThat(store().renew(List.of(renewal("a", LEASE), longer, renewal("a", LEASE))))
			.containsOnly(RenewResult.RENEWED);
		assertThat(remaining(key())).isGreaterThan(Duration.ofMinutes(59));
	}

	@Test
	void manyLeasesAreRenewedAndAnsweredInOrder() {
		List<RenewCommand> batch = new ArrayList<>();
		List<RenewResult> expected = new ArrayList<>();
		for (int i = 0; i < 2500; i++) {
			String each = key() + "/" + i;
			boolean held = i % 7 != 0;
			acquire(each, "a", LEASE);
			batch.add(new RenewCommand(each, held ? "a" : "b", Duration.ofMinutes(2)));
			expected.add(held ? RenewResult.RENEWED : RenewResult.REFUSED);
		}
		assertThat(store().renew(batch)).isEqualTo(expected);
		assertThat(remaining(key() + "/2499")).as("not held by b").isLessThanOrEqualTo(LEASE);
		assertThat(remaining(key() + "/2498")).isGreaterThan(LEASE);
	}

	/**
	 * As two threads of a process do when a renewal took long, or a process and a
	 * person's script.
	 */
	@Test
	void renewalsInOppositeOrdersDoNotBlockEachOther() throws Exception {
		List<RenewCommand> ascending = new ArrayList<>();
		for (int i = 0; i < 200; i++) {
			acquire(key() + "/" + i, "a", LEASE);
			ascending.add(new RenewCommand(key() + "/" + i, "a", LEASE));
		}
		List<RenewCommand> descending = new ArrayList<>(ascending);
		Collections.reverse(descending);
		List<Callable<List<RenewResult>>> calls = List.of(() -> store().renew(ascending),
				() -> store().renew(descending));
		ExecutorService threads = Executors.newFixedThreadPool(2);
		try {
			for (int round = 0; round < 20; round++) {
				for (Future<List<RenewResult>> results : threads.invokeAll(calls)) {
					assertThat(results.get()).containsOnly(RenewResult.RENEWED);
				}
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	private Duration remaining(String key) {
		return ((Refused) acquire(key, "a stranger", LEASE)).remaining();
	}

	private AcquireResult acquire(String key, String owner, Duration lease) {
		return store().acquire(new AcquireCommand(key, owner, lease, "holder " + owner, ""));
	}

}
