package io.dlock.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.RenewCommand;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One owner wins, however many ask at the same time.
 */
abstract class ContentionContract extends ContractPart {

	private static final int CONTENDERS = 8;

	ContentionContract(LockStoreContract contract) {
		super(contract);
	}

	@Test
	void r38r44RaceForANewKeyHasOneWinner() throws Exception {
		race(60, (key) -> {
		});
	}

	@Test
	void r38r44RaceForAFreedKeyHasOneWinner() throws Exception {
		race(60, (key) -> {
			acquire(key, "before", LEASE);
			store().release(key, "before");
		});
	}

	@Test
	void r38r44RaceForAKeyWhoseLeaseIsOverHasOneWinner() throws Exception {
		race(20, (key) -> {
			attempt(key, "before", Duration.ofMillis(5));
			await().until(() -> store().find(key).isEmpty());
		});
	}

	private void race(int rounds, Consumer<String> prepare) throws Exception {
		CyclicBarrier start = new CyclicBarrier(CONTENDERS);
		for (int round = 0; round < rounds; round++) {
			String contended = key() + "/" + round;
			prepare.accept(contended);
			List<Callable<AcquireResult>> calls = new ArrayList<>();
			for (int i = 0; i < CONTENDERS; i++) {
				String owner = "contender-" + i;
				calls.add(() -> {
					start.await();
					return attempt(contended, owner, LEASE);
				});
			}
			assertThat(inThreads(CONTENDERS, calls)).as("winners of round " + round)
				.filteredOn((result) -> result instanceof Granted)
				.hasSize(1);
		}
	}

	@Test
	void nothingIsLostUnderContention() throws Exception {
		Counter counter = new Counter(25);
		List<Callable<Void>> calls = new ArrayList<>();
		for (int i = 0; i < CONTENDERS; i++) {
			String prefix = "t" + i + "-";
			calls.add(() -> counter.count(store(), prefix));
		}
		inThreads(CONTENDERS, calls);
		counter.assertCounted(CONTENDERS);
	}

	/**
	 * A release that looks for the owner first and then deletes the key frees the lock of
	 * the next owner (B13).
	 */
	@Test
	void b13ReleasesOfOneOwnerFreeNoLockOfTheNext() throws Exception {
		raceAfterRelease(4, 0);
	}

	/**
	 * A renewal that looks for the owner first and then prolongs the lease prolongs that
	 * of the next owner (B13).
	 */
	@Test
	void b13RenewalsOfOneOwnerProlongNoLeaseOfTheNext() throws Exception {
		raceAfterRelease(1, 4);
	}

	/**
	 * Two owners ask for a lock until one of them has it, while the former owner releases
	 * and renews it.
	 */
	private void raceAfterRelease(int releases, int renewals) throws Exception {
		for (int round = 0; round < 60; round++) {
			String contended = key() + "/" + round;
			granted(acquire(contended, "former", LEASE));
			RenewCommand renewal = new RenewCommand(contended, "former", LEASE.multipliedBy(10));
			AtomicInteger released = new AtomicInteger();
			Queue<String> winners = new ConcurrentLinkedQueue<>();
			List<Runnable> actions = new ArrayList<>();
			actions.addAll(Collections.nCopies(renewals, () -> store().renew(List.of(renewal))));
			actions.addAll(Collections.nCopies(releases,
					() -> released.addAndGet(store().release(contended, "former") ? 1 : 0)));
			actions.add(() -> contend(contended, "next", winners));
			actions.add(() -> contend(contended, "other", winners));
			atOnce(actions);
			assertThat(released).as("releases of round %d", round).hasValueLessThanOrEqualTo(1);
			assertThat(winners).as("winners of round %d", round).hasSize(1);
			assertThat(remaining(contended)).isLessThanOrEqualTo(LEASE);
			assertThat(store().release(contended, winners.element())).as("the winner of round %d", round).isTrue();
		}
	}

	private void contend(String key, String owner, Queue<String> winners) {
		while (winners.isEmpty()) {
			if (attempt(key, owner, LEASE) instanceof Granted) {
				winners.add(owner);
			}
		}
	}

	private static void atOnce(List<Runnable> actions) throws Exception {
		CyclicBarrier start = new CyclicBarrier(actions.size());
		inThreads(actions.size(), actions.stream().<Callable<Boolean>>map((action) -> () -> {
			start.await();
			action.run();
			return true;
		}).toList());
	}

}
