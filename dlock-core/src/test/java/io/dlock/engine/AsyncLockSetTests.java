package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several locks that a future delivers.
 */
@ParameterizedClass(name = "batches: {0}")
@ValueSource(booleans = { false, true })
class AsyncLockSetTests extends AbstractLockSetTests {

	AsyncLockSetTests(boolean batches) {
		super(batches);
	}

	@Test
	void lockOfAFutureSetIsNestedInOneThatTheCallerHolds() throws Exception {
		LockHandle outer = this.registry.acquireAsync(request("b", LEASE, LEASE)).get();
		assertThat(this.registry.acquireAllAsync(this.immediate, List.of("a", "b"))).failsWithin(Patience.EVENTUALLY)
			.withThrowableOfType(ExecutionException.class);
		Awaitility.await().until(() -> isFreeInStore("a"));
		LockHandle released = this.registry.acquireAsync(request("b", LEASE, LEASE), outer).get();
		released.release();
		LockSet set = this.registry.acquireAllAsync(this.waiting, List.of("a", "b"), List.of(released, outer)).get();
		assertThat(set.handle("b").token()).isEqualTo(outer.token());
		set.release();
		assertThat(outer.isValid()).isTrue();
		assertThat(isFreeInStore("a")).isTrue();
		outer.release();
		assertThat(isFreeInStore("b")).isTrue();
	}

	@Test
	void futureCompletesWithLocksThatBelongToNoThread() throws Exception {
		LockSet set = this.registry.acquireAllAsync(this.waiting, List.of("b", "a")).get();
		assertThat(set.keys()).containsExactly("a", "b");
		assertThat(LockHandle.current()).isEmpty();
		assertThat(set.releaseAsync()).succeedsWithin(Patience.EVENTUALLY);
		assertThat(isFreeInStore("a")).isTrue();
		assertThat(isFreeInStore("b")).isTrue();
	}

	@Test
	void futureFailsIfALockStaysBusy() {
		holdElsewhere("b", LEASE);
		assertThat(this.registry.acquireAllAsync(this.immediate, List.of("a", "b"))).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockBusyException.class);
		Awaitility.await().until(() -> isFreeInStore("a"));
	}

	/**
	 * The calls to the store take longer than the first lease, and its timer has not run.
	 */
	@Test
	void futureFailsIfTheFirstLockIsOverWhenTheLastIsGranted() {
		TurnedClock clock = new TurnedClock();
		this.store.batches = false;
		this.store.afterAcquire = () -> clock.pass(LEASE.multipliedBy(3).dividedBy(5));
		try (LeaseLockRegistry other = new LeaseLockRegistry(this.store, this.settings, clock)) {
			LockRequest request = LockRequest.builder("set")
				.lease(LEASE)
				.waitTime(LEASE.multipliedBy(2))
				.renew(false)
				.build();
			assertThat(other.acquireAllAsync(request, List.of("a", "b"))).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(LockLostException.class);
			Awaitility.await().until(() -> isFreeInStore("a") && isFreeInStore("b"));
		}
	}

	@Test
	void cancelledFutureLeavesNoLockTaken() {
		holdElsewhere("b", LEASE);
		CompletableFuture<LockSet> future = this.registry.acquireAllAsync(this.waiting, List.of("a", "b", "c"));
		Awaitility.await().until(() -> isAsked("b"));
		assertThat(isFreeInStore("a")).isFalse();
		future.cancel(false);
		Awaitility.await().until(() -> isFreeInStore("a"));
		Awaitility.await().until(() -> this.registry.queues().size() == 0);
	}

	/**
	 * The clock is read when the second request has joined its queue.
	 */
	@Test
	void futureThatIsCancelledWhileTheNextLockIsRequestedLeavesNoLockTaken() {
		holdElsewhere("b", LEASE);
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry turned = new LeaseLockRegistry(this.store, this.settings, clock);
		CountDownLatch returned = new CountDownLatch(1);
		this.store.holdAcquires(returned);
		CompletableFuture<LockSet> future = turned.acquireAllAsync(request("set", LEASE, Duration.ofHours(1)),
				List.of("a", "b"));
		clock.onReading = () -> {
			if (turned.queues().size() == 2) {
				future.cancel(false);
			}
		};
		returned.countDown();
		Awaitility.await().until(future::isDone);
		Awaitility.await().until(() -> turned.queues().size() == 0);
		turned.close();
	}

	/**
	 * The error comes when all locks are granted.
	 */
	@Test
	void errorFailsTheFutureAndLeavesNoLockTaken() {
		TurnedClock clock = new TurnedClock();
		LeaseLockRegistry turned = new LeaseLockRegistry(this.store, this.settings, clock);
		clock.onReading = () -> {
			if (StackWalker.getInstance()
				.walk((frames) -> frames.anyMatch((frame) -> frame.getClassName().contains("LockSetAcquirer")
						&& frame.getMethodName().equals("complete")))) {
				clock.onReading = () -> {
				};
				throw new NoClassDefFoundError("com/example/Missing");
			}
		};
		assertThat(turned.acquireAllAsync(this.waiting, List.of("a", "b"))).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(NoClassDefFoundError.class);
		Awaitility.await().until(() -> isFreeInStore("a") && isFreeInStore("b"));
		turned.close();
	}

}
