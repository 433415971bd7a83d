package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.store.StoredLock;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Sets of locks of two processes.
 */
class LockSetProcessesTests extends AbstractLeaseLockRegistryTests {

	/** The interim lease of a set is twice the wait time in Redisson. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void setOfAProcessThatDiesInTheMiddleIsTakenForOneLease(boolean batches) {
		TurnedClock clock = new TurnedClock();
		TroubledStore cut = new TroubledStore(new MemoryLockStore(clock::nanoTime));
		cut.batches = batches;
		cut.afterAcquire = () -> cut.down = Objects.requireNonNull(cut.asked).key().equals("b");
		List<String> keys = List.of("a", "b", "c", "d");
		LockRequest once = noWait("set");
		try (LeaseLockRegistry dying = new LeaseLockRegistry(cut, this.settings, clock);
				LeaseLockRegistry next = new LeaseLockRegistry(cut.memory, this.settings, clock)) {
			assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> dying.acquireAll(once, keys));
			assertThat(cut.memory.list(10).locks()).extracting(StoredLock::storageKey)
				.containsExactlyInAnyOrder("a", "b");
			clock.pass(LEASE.minusMillis(1));
			assertThat(next.tryAcquireAll(once, keys)).isEmpty();
			clock.pass(Duration.ofMillis(1));
			assertThat(next.tryAcquireAll(once, keys)).hasValueSatisfying(LockSet::release);
		}
	}

	/** Sets wait for each other in Redisson (issues 467, 1160, 4050). */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void processesWithOppositeOrdersDoNotWaitForEachOther(boolean batches) {
		this.store.batches = batches;
		LockRequest waiting = request("set", LEASE, LEASE.dividedBy(2));
		int[] balance = new int[1];
		try (LeaseLockRegistry other = new LeaseLockRegistry(this.store, this.settings)) {
			List<CompletableFuture<Integer>> callers = IntStream.range(0, 8).mapToObj((i) -> inOtherThread(() -> {
				LeaseLockRegistry process = (i % 2 == 0) ? this.registry : other;
				List<String> keys = (i < 4) ? List.of("a", "b") : List.of("b", "a");
				for (int n = 0; n < 300; n++) {
					try (LockSet set = process.acquireAll(waiting, keys)) {
						balance[0]++;
						set.assertHeld();
					}
				}
				return 300;
			})).toList();
			assertThat(callers).allSatisfy((caller) -> assertThat(caller).succeedsWithin(Patience.EVENTUALLY));
		}
		assertThat(balance[0]).isEqualTo(2400);
	}

}
