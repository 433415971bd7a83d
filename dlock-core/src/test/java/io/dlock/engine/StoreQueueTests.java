package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The place of the process in the queues of the store, and requests at the limits of a
 * store.
 */
class StoreQueueTests extends AbstractLeaseLockRegistryTests {

	@Test
	void lastLeavingRequestLeavesTheQueueOfTheStore() {
		holdElsewhere("key", LEASE);
		CompletableFuture<LockHandle> first = this.registry.acquireAsync(request("key", LEASE, LockRequest.FOREVER));
		Awaitility.await().until(() -> this.store.asked != null && this.store.asked.queueing());
		CompletableFuture<LockHandle> second = this.registry.acquireAsync(request("key", LEASE, LockRequest.FOREVER));
		Awaitility.await().until(() -> waitersOf("key") == 1);
		this.store.beforeAcquire = () -> {
			throw new StoreException(Effect.NONE, false, "connection refused", null);
		};
		first.cancel(false);
		second.cancel(false);
		Awaitility.await().until(() -> this.store.leaves.get() == 1 && this.registry.queues().size() == 0);
	}

	@Test
	void mailboxIsReopenedAfterAnError() {
		holdElsewhere("key", LEASE);
		this.store.mailboxError = true;
		CompletableFuture<LockHandle> waiting = this.registry.acquireAsync(request("key", LEASE, LockRequest.FOREVER));
		Awaitility.await().until(() -> !this.store.mailboxError);
		// after the pause of five seconds
		Awaitility.await()
			.atMost(Patience.EVENTUALLY)
			.until(() -> this.store.asked != null && this.store.asked.queueing());
		waiting.cancel(false);
		Awaitility.await().until(() -> this.registry.queues().size() == 0);
	}

	@Test
	void storeClockBeyondTheLastTokenIsAStoreFailure() {
		this.store.tokensAreTooLarge = true;
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.registry.acquire("key"))
			.withMessageContaining("clock");
		Awaitility.await().until(() -> isFreeInStore("key"));
	}

	@Test
	void leaseTooShortForTheStoreIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> LockRequest.builder("key").lease(Duration.ofMillis(2)).build())
			.withMessageContaining("at least 10 ms");
		LockSettings.builder().lease(Duration.ofMillis(10)).build();
	}

	private LeaseLockRegistry patient() {
		return another(new LeaseLockRegistry(this.store,
				this.settings.toBuilder().commandTimeout(Duration.ofSeconds(5)).build()));
	}

	@Test
	void leaseWithoutRenewalMayBeShort() throws Exception {
		Duration lease = Duration.ofSeconds(10);
		LockRequest once = LockRequest.builder("key").lease(lease).renew(false).build();
		try (LeaseLockRegistry patient = patient()) {
			patient.acquireAsync(once).get().release();
			assertThatIllegalArgumentException()
				.isThrownBy(() -> patient.acquire(LockRequest.builder("key").lease(lease).build()));
		}
	}

	@Test
	void stoppingRegistryReleasesItsLocksTogether() {
		int together = 8;
		LeaseLockRegistry stopping = patient();
		List<LockHandle> handles = new ArrayList<>();
		for (int i = 0; i < together; i++) {
			handles.add(stopping.acquireAsync(LockRequest.of("key " + i)).join());
		}
		CyclicBarrier all = new CyclicBarrier(together);
		this.store.beforeRelease = () -> awaitQuietly(all);
		stopping.close();
		assertThat(IntStream.range(0, together).allMatch((i) -> isFreeInStore("key " + i))).isTrue();
		assertThat(handles).noneMatch(LockHandle::isValid);
	}

	@Test
	void cancelledRequestsLeaveInConstantTime() throws ExecutionException, InterruptedException {
		LockHandle held = this.registry.acquireAsync(LockRequest.of("key")).get();
		List<CompletableFuture<LockHandle>> waiters = new ArrayList<>();
		for (int i = 0; i < 30_000; i++) {
			waiters.add(this.registry.acquireAsync(request("key", LEASE, LockRequest.FOREVER)));
		}
		for (int i = waiters.size() - 1; i >= 0; i--) {
			waiters.get(i).cancel(false);
		}
		Awaitility.await().until(() -> waitersOf("key") == 0);
		held.release();
	}

}
