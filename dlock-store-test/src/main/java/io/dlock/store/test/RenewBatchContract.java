package io.dlock.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each lease of a batch is decided by itself and answered at its place.
 */
abstract class RenewBatchContract extends ContractPart {

	RenewBatchContract(LockStoreContract contract) {
		super(contract);
	}

	@Test
	void batchOfRenewalsAnswersInOrder() {
		acquire("a", LEASE);
		String other = key() + "/other";
		acquire(other, "b", LEASE);
		assertThat(store()
			.renew(List.of(renewal("a", LEASE), renewal("stranger", LEASE), new RenewCommand(other, "b", LEASE))))
			.containsExactly(RenewResult.RENEWED, RenewResult.REFUSED, RenewResult.RENEWED);
		assertThat(store().renew(List.of())).isEmpty();
	}

	@Test
	void r43TwoRenewalsAtOnceAreBothConfirmed() {
		acquire("a", LEASE);
		assertThat(store().renew(List.of(renewal("a", LEASE), renewal("a", LEASE))))
			.containsExactly(RenewResult.RENEWED, RenewResult.RENEWED);
	}

	@Test
	void longerOfTwoRenewalsOfOneLeaseCounts() {
		acquire("a", LEASE);
		RenewCommand longer = renewal("a", Duration.ofHours(1));
		assertThat(store().renew(List.of(renewal("a", LEASE), longer, renewal("a", LEASE))))
			.containsOnly(RenewResult.RENEWED);
		assertThat(remaining()).isGreaterThan(Duration.ofMinutes(59));
	}

	@Test
	void eachRenewalOfABatchIsDecidedByItself() {
		List<String> keys = List.of(key() + "/c", key() + " ä/b", key() + "/a", key() + "/d", key() + "/e",
				key() + "/f");
		acquire(keys.get(0), "held", LEASE);
		acquire(keys.get(1), "over", shortLease());
		acquire(keys.get(2), "taken over", shortLease());
		acquire(keys.get(3), "released", LEASE);
		store().release(keys.get(3), "released");
		acquire(keys.get(5), "\"}]\\'", LEASE);
		await().until(() -> acquire(keys.get(2), "successor", LEASE) instanceof Granted);
		await().until(() -> store().find(keys.get(1)).isEmpty());
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
	void manyLeasesAreRenewedAndAnsweredInOrder() throws Exception {
		List<Callable<AcquireResult>> acquisitions = new ArrayList<>();
		List<RenewCommand> batch = new ArrayList<>();
		List<RenewResult> expected = new ArrayList<>();
		for (int i = 0; i < 2500; i++) {
			String each = key() + "/" + i;
			boolean held = i % 7 != 0;
			acquisitions.add(() -> acquire(each, "a", LEASE.multipliedBy(5)));
			batch.add(new RenewCommand(each, held ? "a" : "b", LEASE.multipliedBy(6)));
			expected.add(held ? RenewResult.RENEWED : RenewResult.REFUSED);
		}
		inThreads(8, acquisitions).forEach(ContractPart::granted);
		assertThat(store().renew(batch)).isEqualTo(expected);
		assertThat(remaining(key() + "/2499")).as("not held by b").isLessThanOrEqualTo(LEASE.multipliedBy(5));
		assertThat(remaining(key() + "/2498")).isGreaterThan(LEASE.multipliedBy(5));
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
		for (int round = 0; round < 20; round++) {
			assertThat(inThreads(2, calls))
				.allSatisfy((results) -> assertThat(results).containsOnly(RenewResult.RENEWED));
		}
	}

}
