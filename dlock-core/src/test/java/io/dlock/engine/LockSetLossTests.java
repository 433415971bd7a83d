package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.engine.lease.LeaseInternals;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;

/**
 * The end of several locks: their release, and the loss of one.
 */
@ParameterizedClass(name = "batches: {0}")
@ValueSource(booleans = { false, true })
class LockSetLossTests extends AbstractLockSetTests {

	LockSetLossTests(boolean batches) {
		super(batches, SHORT_COMMAND_TIMEOUT);
	}

	@Test
	void minHoldOfAnOuterLockOutlastsASetThatIsGivenBack() {
		LockHandle outer = this.registry
			.acquire(LockRequest.builder("a").lease(LEASE).minHold(LEASE.dividedBy(2)).build());
		holdElsewhere("b", LEASE);
		assertThat(this.registry.tryAcquireAll(this.immediate, List.of("a", "b"))).isEmpty();
		outer.release();
		assertThat(isFreeInStore("a")).isFalse();
	}

	@Test
	void minHoldOfASetThatIsGivenBackIsWaived() {
		holdElsewhere("b", LEASE);
		LockRequest template = LockRequest.builder("set")
			.lease(LEASE)
			.waitTime(Duration.ZERO)
			.minHold(LEASE.multipliedBy(3).dividedBy(4))
			.build();
		assertThat(this.registry.tryAcquireAll(template, List.of("a", "b"))).isEmpty();
		Awaitility.await().until(() -> isFreeInStore("a") && this.registry.queues().size() == 0);
	}

	@Test
	void oneLostLockIsTheLossOfTheSet() {
		LockSet set = this.registry.acquireAll(request("set", RENEWED_LEASE, Duration.ZERO), List.of("a", "b", "c"));
		List<String> lost = new CopyOnWriteArrayList<>();
		set.onLost((handle) -> lost.add(handle.key()));
		this.store.memory.inspection().forceRelease("b", set.handle("b").token() / 1024);
		Awaitility.await().untilAsserted(() -> assertThat(lost).containsExactly("b"));
		assertThat(set.isValid()).isFalse();
		assertThat(set.remaining()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(set::assertHeld);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(set::release)
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("b"));
		assertThat(isFreeInStore("a")).isTrue();
		assertThat(isFreeInStore("c")).isTrue();
		set.release();
		assertThatIllegalStateException().isThrownBy(() -> set.handle("a").assertHeld());
	}

	@Test
	void lossIsToldToASetThatIsNestedInALockOfItsThread() {
		LeaseLockHandle outer = (LeaseLockHandle) this.registry.acquire("a");
		LockSet nested = this.registry.acquireAll(this.waiting, List.of("a"));
		LeaseInternals.expire(outer.hold().lease());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(nested::release);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(outer::release);
	}

	@Test
	void setOfHandlesIsReleasedOneByOne() {
		LockHandle a = this.registry.acquireAsync(request("a", LEASE, LEASE)).join();
		LeaseLockHandle b = (LeaseLockHandle) this.registry.acquireAsync(request("b", LEASE, LEASE)).join();
		LeaseInternals.expire(b.hold().lease());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(LockSet.of(List.of(a, b))::release);
		assertThat(isFreeInStore("a")).isTrue();
	}

	@Test
	void lossOfSeveralLocksIsToldOnce() {
		LockSet set = this.registry.acquireAll(this.immediate, List.of("a", "b"));
		List<String> lost = new CopyOnWriteArrayList<>();
		set.onLost((handle) -> lost.add(handle.key()));
		this.registry.renewer().leases().forEach(LeaseInternals::expire);
		assertThat(set.handle("a").isValid() || set.handle("b").isValid()).isFalse();
		Awaitility.await().untilAsserted(() -> assertThat(lost).hasSize(1));
		assertThat(set.releaseAsync()).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockLostException.class)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasSize(1));
		assertThat(lost).hasSize(1);
	}

	@Test
	void heldLocksAreRenewedWhileTheCallerWaitsForTheNext() throws Exception {
		holdElsewhere("b", LEASE);
		CompletableFuture<Void> waiter = inOtherThread(() -> {
			try (LockSet set = this.registry.acquireAll(request("set", RENEWED_LEASE, Duration.ofSeconds(60)),
					List.of("a", "b"))) {
				assertThat(set.isValid()).isTrue();
			}
			return null;
		});
		Awaitility.await().until(() -> this.store.renewals.get() > 1);
		assertThat(isFreeInStore("a")).isFalse();
		this.store.memory.release("b", "elsewhere");
		waiter.get(Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS);
	}

	@Test
	void lockThatIsLostWhileTheCallerWaitsForTheNextIsToldAndTheNextGivenBack() {
		holdElsewhere("b", LEASE);
		CompletableFuture<LockSet> waiter = inOtherThread(
				() -> this.registry.acquireAll(this.waiting, List.of("a", "b")));
		CompletableFuture<LockSet> future = this.registry.acquireAllAsync(this.waiting, List.of("A", "b"));
		Awaitility.await().until(() -> isAsked("b") && !isFreeInStore("a") && !isFreeInStore("A"));
		for (String key : List.of("a", "A")) {
			this.store.memory.inspection().forceRelease(key, this.store.memory.find(key).orElseThrow().token());
		}
		this.registry.renewer().leases().forEach(LeaseInternals::expire);
		this.store.memory.release("b", "elsewhere");
		assertThat(waiter).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockLostException.class);
		assertThat(future).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockLostException.class);
		Awaitility.await().until(() -> isFreeInStore("b") && this.registry.queues().size() == 0);
	}

	@Test
	void lossOfALockEndsTheWaitForTheNext() {
		holdElsewhere("b", Duration.ofHours(1));
		LockRequest patient = request("set", LEASE, LockRequest.FOREVER);
		CompletableFuture<LockSet> waiter = inOtherThread(() -> this.registry.acquireAll(patient, List.of("a", "b")));
		CompletableFuture<LockSet> future = this.registry.acquireAllAsync(patient, List.of("A", "b"));
		Awaitility.await().until(() -> waitersOf("b") == 1);
		this.registry.renewer().leases().forEach(LeaseInternals::expire);
		for (CompletableFuture<LockSet> each : List.of(waiter, future)) {
			assertThat(each).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(LockLostException.class);
		}
		assertThat(isFreeInStore("b")).isFalse();
		Awaitility.await().until(() -> isFreeInStore("a") && isFreeInStore("A") && this.registry.queues().size() == 0);
	}

	@Test
	void lossOfTheSecondLockEndsTheWaitForTheThird() {
		holdElsewhere("c", Duration.ofHours(1));
		LockRequest patient = request("set", LEASE, LockRequest.FOREVER);
		CompletableFuture<LockSet> waiter = inOtherThread(
				() -> this.registry.acquireAll(patient, List.of("a", "b", "c")));
		CompletableFuture<LockSet> future = this.registry.acquireAllAsync(patient, List.of("A", "B", "c"));
		Awaitility.await().until(() -> waitersOf("c") == 1);
		this.registry.renewer()
			.leases()
			.stream()
			.filter((lease) -> lease.holder().key().equalsIgnoreCase("b"))
			.forEach(LeaseInternals::expire);
		for (CompletableFuture<LockSet> each : List.of(waiter, future)) {
			assertThat(each).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(LockLostException.class);
		}
		Awaitility.await().until(() -> isFreeInStore("a") && isFreeInStore("A") && this.registry.queues().size() == 0);
	}

	/**
	 * The locks of the sets are taken away while the store is asked for the next ones.
	 */
	@Test
	void r51SetThatWaitsIsToldOfTheCloseOfTheRegistry() {
		holdElsewhere("b", Duration.ofHours(1));
		holdElsewhere("B", Duration.ofHours(1));
		LockRequest patient = request("set", LEASE, LockRequest.FOREVER);
		CompletableFuture<LockSet> waiter = inOtherThread(() -> this.registry.acquireAll(patient, List.of("a", "b")));
		CompletableFuture<LockSet> future = this.registry.acquireAllAsync(patient, List.of("A", "B"));
		Awaitility.await().until(() -> this.registry.renewer().size() == 2);
		CountDownLatch asking = new CountDownLatch(2);
		CountDownLatch answer = new CountDownLatch(1);
		this.store.beforeAcquire = () -> {
			asking.countDown();
			awaitQuietly(answer);
		};
		awaitQuietly(asking);
		this.registry.close();
		answer.countDown();
		for (CompletableFuture<LockSet> each : List.of(waiter, future)) {
			assertThat(each).failsWithin(Patience.EVENTUALLY)
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(LockRegistryClosedException.class);
		}
		Awaitility.await().until(() -> this.registry.queues().size() == 0);
	}

	@Test
	void errorOfOneHandleKeepsNoOtherLock() {
		LockHandle a = this.registry.acquire("a");
		LockHandle b = this.registry.acquire("b");
		LockHandle failing = mock(LockHandle.class);
		OutOfMemoryError error = new OutOfMemoryError("of a listener");
		doThrow(error).when(failing).release();
		given(failing.releaseAsync()).willReturn(CompletableFuture.failedFuture(error));
		assertThatExceptionOfType(OutOfMemoryError.class)
			.isThrownBy(() -> LockSet.of(List.of(a, failing, failing)).release());
		assertThat(isFreeInStore("a")).isTrue();
		assertThat(LockSet.of(List.of(b, failing, failing)).releaseAsync()).failsWithin(Patience.EVENTUALLY)
			.withThrowableOfType(ExecutionException.class);
		assertThat(isFreeInStore("b")).isTrue();
	}

}
