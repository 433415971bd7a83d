package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LossType;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.lease.Hold.Loss;
import io.dlock.engine.lease.Lease;
import io.dlock.test.ForcedLoss;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Listeners of a loss.
 */
class LossListenerTests extends AbstractLeaseLockRegistryTests {

	LossListenerTests() {
		super(SHORT_COMMAND_TIMEOUT);
	}

	@Test
	void throwingOrBlockingListenerDelaysNoOther() throws Exception {
		CountDownLatch block = new CountDownLatch(1);
		LockHandle handle = this.registry.acquire("key");
		handle.onLost((lost) -> {
			throw new IllegalStateException("of the listener");
		});
		handle.onLost((lost) -> awaitQuietly(block));
		ForcedLoss.of(this.registry, handle);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		LockHandle other = this.registry.acquire(request("other", RENEWED_LEASE, Duration.ZERO));
		Awaitility.await().atMost(Patience.EVENTUALLY).until(() -> this.store.renewals.get() >= 3);
		other.release();
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		handle.onLost(told::complete);
		block.countDown();
		assertThat(told.get()).as("a listener that comes late is told too").isSameAs(handle);
	}

	@Test
	void eachListenerOfAHandleIsCalled() throws Exception {
		LockHandle handle = this.registry.acquire("key");
		CompletableFuture<LockHandle> first = new CompletableFuture<>();
		CompletableFuture<LockHandle> second = new CompletableFuture<>();
		handle.onLost(first::complete);
		handle.onLost(second::complete);
		ForcedLoss.of(this.registry, handle);
		assertThat(first).succeedsWithin(Patience.EVENTUALLY).isSameAs(handle);
		assertThat(second).succeedsWithin(Patience.EVENTUALLY).isSameAs(handle);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
	}

	@Test
	void listenerAddedAfterTheLossIsCalled() {
		LockHandle handle = this.registry.acquire("key");
		ForcedLoss.of(this.registry, handle);
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		handle.onLost(told::complete);
		assertThat(told).succeedsWithin(Patience.EVENTUALLY).isSameAs(handle);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		CompletableFuture<LockHandle> toldLater = new CompletableFuture<>();
		handle.onLost(toldLater::complete);
		assertThat(toldLater).succeedsWithin(Patience.EVENTUALLY).isSameAs(handle);
	}

	@Test
	void listenerOfAReleasedNestedHandleIsNeverCalled() throws Exception {
		AtomicInteger calls = new AtomicInteger();
		LockHandle outer = this.registry.acquire("key");
		LockHandle inner = this.registry.acquire("key");
		inner.onLost((lost) -> calls.incrementAndGet());
		inner.release();
		CompletableFuture<LockHandle> told = new CompletableFuture<>();
		outer.onLost(told::complete);
		ForcedLoss.of(this.registry, outer);
		told.get();
		assertThat(calls).hasValue(0);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(outer::release);
	}

	/**
	 * The release comes after the check that the handle is open and before its listener
	 * is added. The lease goes on for the outer handle.
	 */
	@Test
	void listenerAddedDuringReleaseOfNestedHandleIsNeverCalled() throws Exception {
		AtomicInteger calls = new AtomicInteger();
		LockHandle outer = this.registry.acquire("key");
		LeaseLockHandle inner = (LeaseLockHandle) this.registry.acquire("key");
		inner.release();
		inner.addLossListener((lost) -> calls.incrementAndGet());
		ForcedLoss.of(this.registry, outer);
		assertThatListenersRunFor(outer);
		assertThat(calls).hasValue(0);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(outer::release);
	}

	/**
	 * The lease goes on for the next holder of this process.
	 */
	@Test
	void listenerAddedDuringHandOffIsNeverCalled() throws Exception {
		AtomicInteger calls = new AtomicInteger();
		LockRequest request = LockRequest.builder("key").waitTime(Duration.ofSeconds(20)).build();
		LockHandle next = null;
		long first = 0;
		while (next == null || next.token() != first + 1) {
			LeaseLockHandle handle = (LeaseLockHandle) this.registry.acquireAsync(request).get();
			CompletableFuture<LockHandle> waiter = this.registry.acquireAsync(request);
			first = handle.token();
			handle.release();
			handle.addLossListener((lost) -> calls.incrementAndGet());
			next = waiter.get();
			if (next.token() != first + 1) {
				next.release();
			}
		}
		ForcedLoss.of(this.registry, next);
		assertThatListenersRunFor(next);
		assertThat(calls).hasValue(0);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(next::release);
	}

	@Test
	void listenerAddedToNestedHandleReleasedBeforeTheLossIsNeverCalled() throws Exception {
		AtomicInteger calls = new AtomicInteger();
		LockHandle outer = this.registry.acquire("key");
		LockHandle inner = this.registry.acquire("key");
		LockHandle late = this.registry.acquire("key");
		inner.release();
		ForcedLoss.of(this.registry, outer);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(late::release);
		inner.onLost((lost) -> calls.incrementAndGet());
		assertThatListenersRunFor(late);
		assertThatListenersRunFor(outer);
		assertThat(calls).hasValue(0);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(outer::release);
	}

	@Test
	void listenerOfAReleasedLockIsNeverCalled() throws Exception {
		AtomicInteger calls = new AtomicInteger();
		LockHandle handle = this.registry.acquire("key");
		handle.onLost((lost) -> calls.incrementAndGet());
		Lease lease = ((LeaseLockHandle) handle).hold().lease();
		handle.release();
		handle.onLost((lost) -> calls.incrementAndGet());
		LockHandle later = this.registry.acquire("later");
		assertThat(this.registry.renewer().lose(lease, new Loss(LossType.EXPIRED, "after its release"))).isFalse();
		ForcedLoss.of(this.registry, later);
		assertThatListenersRunFor(later);
		assertThat(calls).hasValue(0);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(later::release);
	}

	/**
	 * Occupies all threads of the listeners, so that none that was started before still
	 * runs.
	 */
	private static void assertThatListenersRunFor(LockHandle handle) throws Exception {
		CyclicBarrier all = new CyclicBarrier(EngineThreads.LISTENERS + 1);
		for (int i = 0; i < EngineThreads.LISTENERS; i++) {
			handle.onLost((lost) -> awaitQuietly(all));
		}
		all.await();
	}

}
