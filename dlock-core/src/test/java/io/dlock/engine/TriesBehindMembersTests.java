package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tries that are in the same queue as shared locks or permits, each of which asks the
 * store by itself.
 */
class TriesBehindMembersTests extends AbstractMemberTests {

	private final CountDownLatch first = new CountDownLatch(1);

	private final CountDownLatch second = new CountDownLatch(1);

	@AfterEach
	void answer() {
		this.first.countDown();
		this.second.countDown();
	}

	/**
	 * The store refuses the try, and is asked by a request with a higher limit then.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void tryThatIsOvertakenWithItsAnswerEndsWithIt(boolean async) {
		LockHandle held = this.other.acquirePermitAsync(LockRequest.of("key"), 2).join();
		LockHandle alsoHeld = this.other.acquirePermitAsync(LockRequest.of("key"), 2).join();
		LockRequest request = LockRequest.builder("key").waitTime(Duration.ZERO).build();
		CountDownLatch asking = this.store.holdAcquires(this.first);
		CompletableFuture<LockHandle> tried = async ? this.registry.acquirePermitAsync(request, 2)
				: CompletableFuture.supplyAsync(() -> this.registry.acquirePermit(request, 2));
		awaitQuietly(asking);
		CountDownLatch overtaking = this.store.holdAcquires(this.second);
		CompletableFuture<LockHandle> overtaker = this.registry.acquirePermitAsync(exclusive("key").build(), 3);
		Awaitility.await().until(() -> TestContexts.waiters(this.registry, "limit:key") == 1);
		this.first.countDown();
		awaitQuietly(overtaking);
		assertThat(tried).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		assertThat(overtaker).isNotDone();
		this.second.countDown();
		assertThat(overtaker).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
		held.release();
		alsoHeld.release();
	}

	/**
	 * The second reader has other terms than the first, and asks the store itself.
	 */
	@Test
	void exclusiveTryIsBusyAsSoonAsAReaderIsGranted() {
		CountDownLatch asking = this.store.holdAcquires(this.first);
		CompletableFuture<LockHandle> reader = this.registry.acquireAsync(shared("key").build());
		awaitQuietly(asking);
		CompletableFuture<LockHandle> other = this.registry
			.acquireAsync(shared("key").lease(LEASE.multipliedBy(2)).build());
		Awaitility.await().until(() -> TestContexts.waiters(this.registry, "key") == 1);
		CompletableFuture<LockHandle> tried = this.registry
			.acquireAsync(exclusive("key").waitTime(Duration.ZERO).build());
		Awaitility.await().until(() -> this.registry.queues().waiting().size() == 3);
		CountDownLatch askingAgain = this.store.holdAcquires(this.second);
		this.first.countDown();
		awaitQuietly(askingAgain);
		assertThat(tried).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		assertThat(other).isNotDone();
		this.second.countDown();
		assertThat(reader).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
		assertThat(other).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
	}

}
