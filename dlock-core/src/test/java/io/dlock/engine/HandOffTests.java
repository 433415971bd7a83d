package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.LossType;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.Hold.Loss;
import io.dlock.engine.lease.Lease;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A lease that passes from holder to holder inside the process.
 */
class HandOffTests extends AbstractHandOffTests {

	@Test
	void lockIsPassedOnWithoutStoreCallAndWithHigherToken() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter();
		CompletableFuture<LockHandle> third = waiter();
		first.release();
		assertThat(second.get().token()).isEqualTo(first.token() + 1);
		assertThat(second.get().isValid()).isTrue();
		assertThat(first.isValid()).isFalse();
		assertThat(third).isNotDone();
		second.get().release();
		assertThat(third.get().token()).isEqualTo(first.token() + 2);
		third.get().release();
		assertThat(this.store.acquires).hasValue(1);
		assertThat(this.store.releases).hasValue(1);
	}

	@Test
	void r10NextGrantHasHigherTokenThanAllHandOffs() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter();
		first.release();
		second.get().release();
		LockHandle next = this.registry.acquireAsync(request()).get();
		assertThat(next.token()).isGreaterThan(second.get().token());
		next.release();
	}

	@Test
	void r1SuccessorHasTheValidityOfTheLease() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter();
		this.clock.pass(Duration.ofMillis(9));
		first.release();
		assertThat(second.get().remaining()).isEqualTo(LEASE.minusMillis(100 + 2 + 9));
		assertThat(this.store.acquires).hasValue(1);
		second.get().release();
	}

	@Test
	void storeIsCalledOnceAfterTheHandOffTime() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter();
		this.clock.pass(Duration.ofMillis(10));
		first.release();
		assertThat(second.get().token()).isGreaterThan(first.token() + 1);
		assertThat(this.store.acquires).hasValue(2);
		assertThat(this.store.releases).as("the acquire gives up the lease before").hasValue(0);
		assertThat(second.get().remaining()).isEqualTo(LEASE.minusMillis(100 + 2));
		second.get().release();
	}

	@Test
	void lostLeaseIsNotPassedOn() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter();
		this.clock.pass(LEASE);
		assertThat(first.isValid()).isFalse();
		assertThat(second.get().token()).isGreaterThan(first.token() + 1);
		assertThat(this.store.acquires).hasValue(2);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(first::release);
		assertThat(second.get().isValid()).as("B11: the late release of the one before").isTrue();
		second.get().release();
	}

	@Test
	void leaseNearItsEndIsNotPassedOn() throws Exception {
		assertThat(isPassedOnAfter(Duration.ofMillis(7898), request())).isTrue();
		assertThat(isPassedOnAfter(Duration.ofMillis(7899), request())).isFalse();
	}

	private boolean isPassedOnAfter(Duration held, LockRequest request) throws Exception {
		try (LeaseLockRegistry eager = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().handOffMaxDuration(Duration.ofHours(1)).build(), this.clock)) {
			LockHandle first = eager.acquireAsync(request).get();
			CompletableFuture<LockHandle> second = eager.acquireAsync(request);
			Awaitility.await().until(() -> TestContexts.waiters(eager, "key") == 1);
			this.clock.pass(held);
			first.release();
			second.get().release();
			return second.get().token() == first.token() + 1;
		}
	}

	@Test
	void leaseWithoutRenewalIsPassedOnOnlyWhileNew() throws Exception {
		LockRequest unrenewed = LockRequest.builder("key").renew(false).waitTime(LockRequest.FOREVER).build();
		assertThat(isPassedOnAfter(Duration.ofMillis(898), unrenewed)).isTrue();
		assertThat(isPassedOnAfter(Duration.ofMillis(899), unrenewed)).isFalse();
	}

	@Test
	void requestWithOtherTermsGetsItsOwnLease() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter(
				LockRequest.builder("key").lease(Duration.ofSeconds(40)).waitTime(LockRequest.FOREVER).build());
		first.release();
		assertThat(second.get().remaining()).isGreaterThan(Duration.ofSeconds(30));
		CompletableFuture<LockHandle> third = waiter(LockRequest.builder("key")
			.lease(Duration.ofSeconds(40))
			.renew(false)
			.waitTime(LockRequest.FOREVER)
			.build());
		second.get().release();
		third.get().release();
		assertThat(this.store.acquires).hasValue(3);
	}

	@Test
	void renewalContinuesForTheSuccessor() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter();
		first.release();
		second.get();
		// the alarm was set when the clock stood still
		this.clock.pass(Duration.ofMillis(3400));
		Awaitility.await().until(() -> second.get().remaining().equals(LEASE.minusMillis(102)));
		assertThat(this.store.acquires).hasValue(1);
		second.get().release();
	}

	@Test
	void onlyTheSuccessorIsToldOfALoss() throws Exception {
		List<LockHandle> told = new ArrayList<>();
		LockHandle first = this.registry.acquireAsync(request()).get();
		first.onLost(told::add);
		CompletableFuture<LockHandle> second = waiter();
		first.release();
		CountDownLatch lost = new CountDownLatch(1);
		second.get().onLost((handle) -> lost.countDown());
		this.clock.pass(LEASE);
		assertThat(second.get().isValid()).isFalse();
		lost.await();
		assertThat(told).isEmpty();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> second.get().release());
	}

	@Test
	void p3LeaseWithRefusedRenewalIsNotPassedOn() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter();
		Lease lease = ((LeaseLockHandle) first).hold().lease();
		Hold before = lease.holder();
		assertThat(before.beginRelease()).isTrue();
		// between release and hand-off
		assertThat(this.registry.renewer().lose(lease, new Loss(LossType.REFUSED, "the store refused its renewal")))
			.isFalse();
		assertThat(this.registry.queues().pass(before)).isTrue();
		assertThat(second.get().token()).isGreaterThan(first.token() + 1);
		assertThat(this.store.acquires).hasValue(2);
		second.get().release();
	}

	@Test
	void r23LostReplyToCallThatGivesUpThePredecessorIsResolved() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter();
		this.clock.pass(Duration.ofMillis(10));
		this.store.lostAcquireReplies.set(2);
		first.release();
		assertThat(second.get().isValid()).isTrue();
		assertThat(this.store.acquires).hasValue(4);
		second.get().release();
	}

	@Test
	void leaseIsNotPassedOnBeyondItsTokens() throws Exception {
		long last = 0;
		CompletableFuture<LockHandle> next = this.registry.acquireAsync(request());
		for (int i = 0; i < 3 * Lease.TOKENS_PER_LEASE; i++) {
			LockHandle current = next.get();
			assertThat(current.token()).isGreaterThan(last);
			last = current.token();
			next = this.registry.acquireAsync(request());
			Awaitility.await()
				.pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofNanos(100_000))
				.until(() -> TestContexts.waiters(this.registry, "key") == 1);
			current.release();
		}
		next.get().release();
		assertThat(this.store.acquires).hasValue(4);
	}

	@Test
	void closingRegistryPassesNoLockOn() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter();
		this.registry.close();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(second::get)
			.withCauseInstanceOf(LockRegistryClosedException.class);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(first::release);
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void requestThatCannotBeginThePassedOnLeaseLeavesIt() {
		LockHandle first = this.registry.acquireAsync(request()).join();
		CompletableFuture<LockHandle> next = waiter(
				LockRequest.builder("key").waitTime(LockRequest.FOREVER).maxHold(LEASE).build());
		this.clock.onReading = () -> {
			if (StackWalker.getInstance()
				.walk((frames) -> frames.anyMatch((frame) -> frame.getClassName().endsWith(".HoldDetails")
						&& frame.getMethodName().equals("<init>")))) {
				throw new OutOfMemoryError("of the test");
			}
		};
		first.release();
		assertThat(next).failsWithin(Patience.EVENTUALLY).withThrowableOfType(ExecutionException.class);
		this.clock.onReading = () -> {
		};
		Awaitility.await().untilAsserted(() -> {
			assertThat(this.registry.renewer().size()).isZero();
			assertThat(this.store.memory.find("key")).isEmpty();
		});
	}

}
