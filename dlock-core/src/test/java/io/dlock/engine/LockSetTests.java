package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockInterruptedException;
import io.dlock.LockSet;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.CapturedLog;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.mockito.BDDMockito.given;

/**
 * Several locks, all or none.
 */
@ParameterizedClass(name = "batches: {0}")
@ValueSource(booleans = { false, true })
class LockSetTests extends AbstractLockSetTests {

	LockSetTests(boolean batches) {
		super(batches);
	}

	@Test
	void keysAreLockedInTheOrderOfTheirStorageKeysAndOnce() {
		try (LockSet set = this.registry.acquireAll(List.of("b", "ä", "a", "b", "B"))) {
			assertThat(set.keys()).containsExactly("ä", "B", "a", "b");
			assertThat(set.isValid()).isTrue();
			assertThat(set.remaining()).isPositive();
			set.assertHeld();
			assertThat(this.store.acquires).hasValue(4);
		}
		assertThat(List.of("b", "ä", "a", "B")).allMatch(this::isFreeInStore);
	}

	@Test
	void eachLockHasATokenOfItsOwn() {
		try (LockSet set = this.registry.acquireAll(List.of("a", "b"))) {
			assertThat(set.handle("a").token()).isPositive().isNotEqualTo(set.handle("b").token());
			assertThat(set.handle("a")).isSameAs(set.handles().get(0));
			assertThatIllegalArgumentException().isThrownBy(() -> set.handle("c"))
				.withMessage("'c' is not a key of LockSet[a, b]");
		}
	}

	@Test
	void templateIsNotLocked() {
		try (LockSet set = this.registry.acquireAll(this.immediate, List.of("a"))) {
			assertThat(set.keys()).containsExactly("a");
			assertThat(isFreeInStore("set")).isTrue();
		}
	}

	@Test
	void keysAreChecked() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquireAll(List.of()))
			.withMessageContaining("'keys' must have 1 to 64 keys but has 0");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.registry.acquireAll(IntStream.range(0, 65).mapToObj(Integer::toString).toList()))
			.withMessageContaining("'keys' must have 1 to 64 keys but has 65");
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquireAll(Arrays.asList("a", null)))
			.withMessageContaining("'key' must not be null");
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquireAllAsync(this.immediate, List.of()))
			.withMessageContaining("'keys' must have 1 to 64 keys but has 0");
		assertThat(this.store.acquires).hasValue(0);
	}

	/**
	 * The others are given back in the background, and are free for their caller at once.
	 */
	@Test
	void busyLockLeavesNoOtherTaken() {
		holdElsewhere("b", LEASE);
		for (int i = 0; i < 10; i++) {
			assertThatExceptionOfType(LockBusyException.class)
				.isThrownBy(() -> this.registry.acquireAll(this.immediate, List.of("c", "b", "a")))
				.satisfies((ex) -> assertThat(ex.key()).isEqualTo("b"));
		}
		assertThat(this.registry.tryAcquireAll(this.immediate, List.of("c", "b", "a"))).isEmpty();
		for (String key : List.of("a", "c")) {
			this.registry.acquire(noWait(key)).release();
			assertThat(isFreeInStore(key)).isTrue();
		}
	}

	@Test
	void failedStoreLeavesNoOtherTaken() {
		this.store.afterAcquire = () -> this.store.lostAcquireReplies
			.set(Objects.requireNonNull(this.store.asked).key().equals("b") ? 1 : 0);
		assertThatExceptionOfType(LockStoreException.class)
			.isThrownBy(() -> this.registry.acquireAll(this.immediate, List.of("a", "b")));
		Awaitility.await().until(() -> isFreeInStore("a"));
		Awaitility.await().until(() -> isFreeInStore("b"));
	}

	@Test
	void interruptedWaitLeavesNoOtherTaken() throws Exception {
		holdElsewhere("b", LEASE);
		Thread caller = Thread.currentThread();
		CompletableFuture<Void> interrupt = inOtherThread(() -> {
			Awaitility.await().until(() -> isAsked("b"));
			caller.interrupt();
			return null;
		});
		assertThatExceptionOfType(LockInterruptedException.class)
			.isThrownBy(() -> this.registry.acquireAll(this.waiting, List.of("a", "b")));
		assertThat(Thread.interrupted()).isTrue();
		interrupt.join();
		Awaitility.await().until(() -> isFreeInStore("a"));
	}

	@Test
	void oneWaitTimeCountsForAll() {
		holdElsewhere("b", LEASE);
		Duration waitTime = LEASE.dividedBy(2);
		TurnedClock clock = new TurnedClock();
		try (LeaseLockRegistry turned = new LeaseLockRegistry(this.store, this.settings, clock)) {
			this.store.afterAcquire = () -> {
				this.store.afterAcquire = () -> {
				};
				clock.pass(waitTime);
			};
			assertThatExceptionOfType(LockBusyException.class)
				.isThrownBy(() -> turned.acquireAll(request("set", LEASE, waitTime), List.of("a", "b")))
				.satisfies((ex) -> assertThat(ex.waited()).isGreaterThanOrEqualTo(waitTime));
			assertThat(this.store.acquires).hasValue(2);
		}
	}

	@Test
	void lockOfTheSetIsNestedInOneThatTheThreadHolds() {
		LockHandle outer = this.registry.acquire("a");
		LockSet set = this.registry.acquireAll(this.immediate, List.of("a", "b"));
		assertThat(set.handle("a").token()).isEqualTo(outer.token());
		this.registry.acquire(noWait("b")).release();
		set.release();
		assertThat(outer.isValid()).isTrue();
		assertThat(isFreeInStore("b")).isTrue();
		outer.release();
	}

	@Test
	void callersWithOverlappingSetsDoNotWaitForEachOther() throws Exception {
		List<String> keys = List.of("a", "b", "c", "d");
		CyclicBarrier barrier = new CyclicBarrier(4);
		List<CompletableFuture<Integer>> callers = new ArrayList<>();
		int[] balance = new int[1];
		for (int i = 0; i < 4; i++) {
			callers.add(inOtherThread(() -> {
				awaitQuietly(barrier);
				int done = 0;
				for (int n = 0; n < 500; n++) {
					List<String> some = new ArrayList<>(keys);
					Collections.shuffle(some, ThreadLocalRandom.current());
					try (LockSet set = this.registry.acquireAll(this.waiting, some.subList(0, 3))) {
						balance[0]++;
						set.assertHeld();
						done++;
					}
				}
				return done;
			}));
		}
		for (CompletableFuture<Integer> caller : callers) {
			assertThat(caller.get(Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo(500);
		}
		// any two sets of three out of four keys overlap
		assertThat(balance[0]).isEqualTo(2000);
	}

	@Test
	void closedRegistryEndsTheWaitForASet() {
		holdElsewhere("b", LEASE);
		CompletableFuture<LockSet> future = this.registry.acquireAllAsync(this.waiting, List.of("a", "b"));
		Awaitility.await().until(() -> isAsked("b"));
		this.registry.close();
		assertThat(future).failsWithin(Patience.EVENTUALLY).withThrowableOfType(ExecutionException.class);
		Awaitility.await().until(() -> isFreeInStore("a"));
	}

	@Test
	void permitsAndLocksOfOtherRegistriesHaveNoPlaceInTheOrder() {
		try (CapturedLog log = CapturedLog.of(LockSetAcquirer.class);
				LeaseLockRegistry other = new LeaseLockRegistry(new MemoryLockStore(), this.settings);
				LockHandle permit = this.registry.acquirePermit(this.immediate, 1);
				LockHandle elsewhere = other.acquire("b")) {
			this.registry.acquireAll(this.immediate, List.of("a", "c")).release();
			assertThat(log.events()).isEmpty();
			assertThat(permit.isValid() && elsewhere.isValid()).isTrue();
		}
	}

	@Test
	void lowerKeyThatIsHeldInAnotherRegistryWarns() {
		try (CapturedLog log = CapturedLog.of(LockSetAcquirer.class);
				LeaseLockRegistry other = new LeaseLockRegistry(new MemoryLockStore(), this.settings);
				LockHandle elsewhere = other.acquire("a");
				LockHandle outer = this.registry.acquire("b")) {
			this.registry.acquireAll(this.immediate, List.of("a", "b")).release();
			assertThat(log.events()).hasSize(1);
			assertThat(outer.isValid() && elsewhere.isValid()).isTrue();
		}
	}

	@Test
	void lowerKeyInsideAHoldWarnsOnce() {
		try (CapturedLog log = CapturedLog.of(LockSetAcquirer.class); LockHandle outer = this.registry.acquire("b")) {
			this.registry.acquireAll(this.immediate, List.of("b", "c")).release();
			try (LockSet held = this.registry.acquireAll(this.immediate, List.of("b", "c"))) {
				this.registry.acquireAll(this.immediate, List.of("b", "c")).release();
				assertThat(held.isValid()).isTrue();
			}
			assertThat(log.events()).isEmpty();
			this.registry.acquireAll(this.immediate, List.of("a", "b")).release();
			this.registry.acquireAll(this.immediate, List.of("a", "c")).release();
			assertThat(log.events()).singleElement()
				.asString()
				.contains("Lock 'a' is requested by a thread that holds 'b'");
			assertThat(outer.isValid()).isTrue();
		}
	}

}
