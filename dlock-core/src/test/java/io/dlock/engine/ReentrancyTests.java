package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.locks.Lock;

import org.junit.jupiter.api.Test;

import io.dlock.LockBusyException;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Nested handles, and handles on other threads.
 */
class ReentrancyTests extends AbstractLeaseLockRegistryTests {

	@Test
	void r11NestedHandleSharesLeaseAndTokenWithoutStoreCall() {
		LockHandle outer = this.registry.acquire("key");
		LockHandle inner = this.registry.acquire(noWait("key"));
		assertThat(inner.token()).isEqualTo(outer.token());
		assertThat(this.store.acquires).hasValue(1);
		inner.release();
		assertThat(inner.isValid()).isFalse();
		assertThat(outer.isValid()).isTrue();
		assertThat(isFreeInStore("key")).isFalse();
		outer.release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void nestedHandlesMayBeReleasedInAnyOrder() {
		LockHandle outer = this.registry.acquire("key");
		LockHandle inner = this.registry.acquire("key");
		outer.release();
		assertThat(inner.isValid()).isTrue();
		assertThat(isFreeInStore("key")).isFalse();
		assertThat(LockHandle.current()).contains(inner);
		inner.release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void lockIsHeldUntilTheLastOfThreeHandlesIsReleased() {
		LockHandle outer = this.registry.acquire("key");
		LockHandle middle = this.registry.acquire("key");
		LockHandle inner = this.registry.acquire("key");
		inner.release();
		middle.release();
		assertThat(outer.isValid()).isTrue();
		assertThat(isFreeInStore("key")).isFalse();
		outer.release();
		assertThat(isFreeInStore("key")).isTrue();
	}

	@Test
	void nestingLeavesNoRenewalBehind() {
		for (int i = 0; i < 5; i++) {
			LockHandle outer = this.registry.acquire("key-" + i);
			this.registry.acquire("key-" + i).release();
			outer.release();
		}
		assertThat(this.registry.renewer().size()).isZero();
		assertThat(this.store.renewals).hasValue(0);
	}

	@Test
	void nonReentrantRequestFindsItsOwnLockBusy() {
		LockHandle outer = this.registry.acquire("key");
		assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.registry
			.acquire(LockRequest.builder("key").waitTime(Duration.ofMillis(20)).reentrant(false).build()));
		outer.release();
	}

	@Test
	void nonReentrantRequestDoesNotWaitForItselfWithoutEnd() {
		LockRequest alone = LockRequest.builder("key").reentrant(false).build();
		assertThat(inOtherThread(() -> {
			try (LockHandle outer = this.registry.acquire("key")) {
				assertThat(this.registry.lock(alone).tryLock()).isFalse();
				this.registry.lock(alone).lock();
			}
			return null;
		})).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(IllegalStateException.class)
			.withMessageContainingAll("'key'", "not reentrant");
		this.registry.lock(alone).lock();
		this.registry.lock(alone).unlock();
	}

	@Test
	void nonReentrantRequestWaitsForTheEndOfItsOwnLease() {
		LockHandle outer = this.registry
			.acquire(LockRequest.builder("key").lease(Duration.ofMillis(200)).renew(false).build());
		Lock alone = this.registry.lock(LockRequest.builder("key").reentrant(false).build());
		alone.lock();
		alone.unlock();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(outer::release);
	}

	@Test
	void nonReentrantReaderDoesNotWaitForItself() {
		LockRequest alone = LockRequest.builder("key").mode(LockMode.SHARED).reentrant(false).build();
		Lock reading = this.registry.lock(alone);
		reading.lock();
		reading.lock();
		reading.unlock();
		reading.unlock();
	}

	@Test
	void nonReentrantWriterDoesNotWaitForItsOwnReadLockWithoutEnd() {
		LockRequest alone = LockRequest.builder("key").reentrant(false).build();
		assertThat(inOtherThread(() -> {
			try (LockHandle outer = this.registry.acquire(alone.withMode(LockMode.SHARED))) {
				this.registry.lock(alone).lock();
			}
			return null;
		})).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(IllegalStateException.class);
	}

	@Test
	void otherThreadIsNotReentrant() {
		LockHandle outer = this.registry.acquire("key");
		assertThat(inOtherThread(() -> this.registry.tryAcquire(noWait("key"))).join()).isEmpty();
		outer.release();
	}

	@Test
	void currentIsTheInnermostHandleOfTheThread() {
		assertThat(LockHandle.current()).isEmpty();
		LockHandle outer = this.registry.acquire("outer");
		LockHandle inner = this.registry.acquire("inner");
		assertThat(LockHandle.current()).containsSame(inner);
		assertThat(inOtherThread(LockHandle::current).join()).isEmpty();
		inner.release();
		assertThat(LockHandle.current()).containsSame(outer);
		outer.release();
	}

	@Test
	void handleMayBeReleasedByAnotherThread() throws Exception {
		LockHandle handle = this.registry.acquire("key");
		inOtherThread(() -> {
			handle.release();
			return null;
		}).get();
		assertThat(LockHandle.current()).isEmpty();
		assertThat(isFreeInStore("key")).isTrue();
		this.registry.acquire(noWait("key")).release();
	}

	@Test
	void handleBoundToAnotherThreadIsReentrantThere() throws Exception {
		LockHandle handle = this.registry.acquire("key");
		inOtherThread(() -> {
			try (LockContext.Binding binding = LockContext.bind(handle)) {
				assertThat(LockHandle.current()).containsSame(handle);
				this.registry.acquire(noWait("key")).release();
			}
			assertThat(LockHandle.current()).isEmpty();
			return null;
		}).get();
		handle.release();
	}

}
