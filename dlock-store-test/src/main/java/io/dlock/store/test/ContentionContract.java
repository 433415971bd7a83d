package io.dlock.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.StoreCongestedException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One owner wins, however many ask at the same time.
 */
abstract class ContentionContract extends ContractPart {

	private static final int CONTENDERS = 8;

	/** Longer than a contender is overtaken, also on a busy machine. */
	private static final Duration STARVED = LEASE.multipliedBy(4);

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

	/**
	 * A store may say that it saw no holder and was overtaken, or that it was too slow.
	 */
	private AcquireResult attempt(String key, String owner, Duration lease) {
		try {
			return acquire(key, owner, lease);
		}
		catch (StoreCongestedException ex) {
			return new AcquireResult.Failed(ex);
		}
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

	/**
	 * A deliberately unprotected counter, as ShedLock's fuzz test has it: a lock that
	 * does not exclude loses counts.
	 */
	@Test
	void nothingIsLostUnderContention() throws Exception {
		int each = 25;
		int[] counter = new int[1];
		List<Long> tokens = new ArrayList<>();
		List<Callable<Void>> calls = new ArrayList<>();
		for (int i = 0; i < CONTENDERS; i++) {
			String prefix = "t" + i + "-";
			calls.add(() -> {
				for (int n = 0; n < each; n++) {
					count(prefix + n, counter, tokens);
				}
				return null;
			});
		}
		inThreads(CONTENDERS, calls);
		assertThat(counter[0]).isEqualTo(CONTENDERS * each);
		assertThat(tokens).hasSize(CONTENDERS * each).isSorted().doesNotHaveDuplicates();
	}

	private void count(String owner, int[] counter, List<Long> tokens) {
		long begin = System.nanoTime();
		AcquireResult result = attempt(key(), owner, LEASE);
		while (!(result instanceof Granted)) {
			assertThat(Duration.ofNanos(System.nanoTime() - begin)).as("without the lock of contenders: %s", result)
				.isLessThan(STARVED);
			Thread.onSpinWait();
			result = attempt(key(), owner, LEASE);
		}
		int read = counter[0];
		Thread.onSpinWait();
		counter[0] = read + 1;
		tokens.add(granted(result));
		assertThat(store().release(key(), owner)).isTrue();
	}

}
