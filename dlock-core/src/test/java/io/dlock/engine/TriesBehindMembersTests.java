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
import io.dlock.LockSettings;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tries that are in the same queue as shared locks or permits, each of which asks the
 * store by itself.
 */
class TriesBehindMembersTests extends AbstractMemberTests {

	/** A try has so much time that a busy machine does not end it. */
	private final LeaseLockRegistry process = new LeaseLockRegistry(this.store,
			LockSettings.builder().commandTimeout(LEASE.dividedBy(4)).shutdownTimeout(Duration.ZERO).build());

	private final CountDownLatch first = new CountDownLatch(1);

	private final CountDownLatch second = new CountDownLatch(1);

	@AfterEach
	void answer() {
		this.first.countDown();
		this.second.countDown();
		this.process.close();
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
		CompletableFuture<LockHandle> tried = async ? this.process.acquirePermitAsync(request, 2)
				: CompletableFuture.supplyAsync(() -> this.process.acquirePermit(request, 2));
		awaitQuietly(asking);
		CountDownLatch overtaking = this.store.holdAcquires(this.second);
		CompletableFuture<LockHandle> overtaker = this.process.acquirePermitAsync(exclusive("key").build(), 3);
		Awaitility.await().until(() -> TestContexts.waiters(this.process, "limit:key") == 1);
		assertThatBusyBeforeTheNextAnswer(tried, overtaking);
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
		CompletableFuture<LockHandle> reader = this.process.acquireAsync(shared("key").build());
		awaitQuietly(asking);
		CompletableFuture<LockHandle> other = this.process
			.acquireAsync(shared("key").lease(LEASE.multipliedBy(2)).build());
		Awaitility.await().until(() -> TestContexts.waiters(this.process, "key") == 1);
		CompletableFuture<LockHandle> tried = this.process
			.acquireAsync(exclusive("key").waitTime(Duration.ZERO).build());
		Awaitility.await().until(() -> this.process.queues().waiting().size() == 3);
		CountDownLatch askingAgain = this.store.holdAcquires(this.second);
		assertThatBusyBeforeTheNextAnswer(tried, askingAgain);
		assertThat(reader).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
		assertThat(other).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
	}

	/**
	 * An exclusive try that is refused leaves nothing behind that keeps readers waiting.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void sharedTryIsNotBusyBecauseAnExclusiveTryIs(boolean async) {
		LockHandle reader = this.other.acquireAsync(shared("key").build()).join();
		CountDownLatch asking = this.store.holdAcquires(this.first);
		CompletableFuture<LockHandle> exclusive = this.process
			.acquireAsync(exclusive("key").waitTime(Duration.ZERO).build());
		awaitQuietly(asking);
		LockRequest request = shared("key").waitTime(Duration.ZERO).build();
		CompletableFuture<LockHandle> tried = async ? this.process.acquireAsync(request)
				: CompletableFuture.supplyAsync(() -> this.process.acquire(request));
		Awaitility.await().until(() -> this.process.queues().waiting().size() == 2);
		this.first.countDown();
		assertThat(exclusive).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		assertThat(tried).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
		reader.release();
	}

	private void assertThatBusyBeforeTheNextAnswer(CompletableFuture<LockHandle> tried, CountDownLatch asking) {
		this.first.countDown();
		awaitQuietly(asking);
		assertThat(tried).failsWithin(Patience.EVENTUALLY)
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		this.second.countDown();
	}

}
