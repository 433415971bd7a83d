package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.dlock.LockBusyException;
import io.dlock.LockCongestedException;
import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreQuarantinedException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The exception of a request that ends without an answer to a call of its own. A method
 * with {@code onStoreFailure = PROCEED} runs without its lock after an outage only.
 */
@Timeout(120)
class AsyncAnswerTests extends AbstractAsyncRequestTests {

	private void occupyWorkers() {
		occupyWorkers(this.registry);
	}

	private void occupyWorkers(LeaseLockRegistry registry) {
		CountDownLatch asking = new CountDownLatch(EngineThreads.WORKERS);
		this.store.beforeAcquire = () -> {
			asking.countDown();
			AbstractLeaseLockRegistryTests.awaitQuietly(this.done);
		};
		for (int i = 0; i < EngineThreads.WORKERS; i++) {
			registry.acquireAsync(LockRequest.builder("busy " + i).waitTime(Duration.ofSeconds(100)).build());
		}
		AbstractLeaseLockRegistryTests.awaitQuietly(asking);
	}

	private void failACall(LeaseLockRegistry registry) {
		this.store.down = true;
		assertThatExceptionOfType(LockStoreException.class)
			.isThrownBy(() -> registry.acquire(LockRequest.builder("failed").waitTime(Duration.ZERO).build()));
		this.store.down = false;
	}

	private LeaseLockRegistry patient() {
		return another(new LeaseLockRegistry(this.store,
				LockSettings.builder().commandTimeout(Duration.ofSeconds(5)).shutdownTimeout(Duration.ZERO).build()));
	}

	/**
	 * A method with {@code onStoreFailure = PROCEED} must not run without its lock.
	 */
	@Test
	void requestNotSentToAnsweringStoreIsCongested() {
		LeaseLockRegistry patient = patient();
		occupyWorkers(patient);
		this.store.beforeAcquire = () -> {
		};
		patient.acquire("answered").release();
		LockRequest request = LockRequest.builder("key").waitTime(Duration.ofMillis(50)).build();
		assertThat(patient.acquireAsync(request)).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockCongestedException.class);
	}

	/**
	 * A method with {@code onStoreFailure = PROCEED} may run without its lock only in the
	 * second case.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void a5RequestNotSentIsCongestedIfTheStoreAnswersABatchAndFailedOtherwise(boolean answered) {
		LeaseLockRegistry patient = patient();
		occupyWorkers(patient);
		this.store.beforeAcquire = () -> {
		};
		failACall(patient);
		this.store.batches = true;
		this.store.down = !answered;
		LockRequest set = LockRequest.builder("set").waitTime(Duration.ZERO).build();
		assertThat(catchThrowable(() -> patient.acquireAll(set, List.of("a", "b")).release()))
			.satisfies((failure) -> assertThat(failure == null).isEqualTo(answered));
		assertThat(this.store.acquiredTogether).hasSize(1);
		LockRequest request = LockRequest.builder("key").waitTime(Duration.ofMillis(50)).build();
		assertThat(patient.acquireAsync(request)).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.havingCause()
			.isExactlyInstanceOf(answered ? LockCongestedException.class : LockStoreException.class);
		this.store.down = false;
	}

	/**
	 * The store answers, although it grants nothing.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void a5RequestNotSentIsCongestedIfOthersAreCongestedOrQuarantined(boolean quarantined) {
		LeaseLockRegistry patient = patient();
		occupyWorkers(patient);
		this.store.beforeAcquire = () -> {
		};
		failACall(patient);
		this.store.beforeAcquire = () -> {
			throw quarantined ? new StoreQuarantinedException(Duration.ofMinutes(1))
					: new StoreCongestedException("no connection became free", null);
		};
		LockRequest tried = LockRequest.builder("tried").waitTime(Duration.ZERO).build();
		assertThat(catchThrowable(() -> patient.acquire(tried))).isInstanceOfSatisfying(LockStoreException.class,
				(failure) -> assertThat(failure.isOutage()).isFalse());
		LockRequest request = LockRequest.builder("key").waitTime(Duration.ofMillis(50)).build();
		assertThat(patient.acquireAsync(request)).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockCongestedException.class);
	}

	@Test
	void tryBehindRequestWithoutWorkerEnds() {
		occupyWorkers();
		acquire("key", Duration.ofSeconds(100));
		CompletableFuture<Boolean> tried = AbstractLeaseLockRegistryTests
			.inOtherThread(() -> this.registry.lock("key").tryLock());
		assertThat(tried).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockStoreException.class);
	}

	@Test
	void requestBehindLocalHolderIsBusyWhileTheStoreIsStopped() throws Exception {
		LockHandle held = acquire("key", Duration.ofSeconds(30)).get();
		this.store.holdAcquires(this.done);
		for (int i = 0; i < 2 * EngineThreads.WORKERS; i++) {
			acquire("other " + i, Duration.ofSeconds(100));
		}
		assertThat(acquire("key", Duration.ofMillis(50))).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		held.release();
	}

	/**
	 * The store has named a holder while it waited. A method with
	 * {@code onStoreFailure = PROCEED} must not run without its lock.
	 */
	@Test
	void requestThatIsFirstOnlyAtItsEndIsBusyIfAHolderWasSeen() {
		this.store.memory
			.acquire(new AcquireCommand("key", "elsewhere", Duration.ofMinutes(1), "another instance", ""));
		CompletableFuture<LockHandle> first = acquire("key", Duration.ofMinutes(1));
		CompletableFuture<LockHandle> second = acquire("key", Duration.ofSeconds(3));
		Awaitility.await().until(() -> isAnswered("key"));
		CountDownLatch asking = this.store.holdAcquires(this.done);
		first.cancel(false);
		AbstractLeaseLockRegistryTests.awaitQuietly(asking);
		assertThat(second).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
	}

	/**
	 * The holder that was named is one of this process, and has released the lock.
	 */
	@Test
	void requestBehindAReleasedLockIsNotBusyIfTheStoreDoesNotAnswer() {
		LeaseLockRegistry slow = asking();
		LockHandle held = slow.acquireAsync(LockRequest.of("key")).join();
		CompletableFuture<LockHandle> second = slow
			.acquireAsync(LockRequest.builder("key").waitTime(Duration.ofSeconds(3)).build());
		assertThat(endWithoutAnAnswer(slow, held, second)).as("an outage")
			.isExactlyInstanceOf(LockStoreException.class);
	}

	/**
	 * The other permit may be held by any process.
	 */
	@Test
	void requestThatWasRefusedIsBusyIfTheStoreDoesNotAnswerAfterTheReleaseOfAPermit() {
		LeaseLockRegistry slow = asking();
		LockHandle held = slow.acquirePermitAsync(LockRequest.of("key"), 2).join();
		slow.acquirePermitAsync(LockRequest.of("key"), 2).join();
		CompletableFuture<LockHandle> refused = slow
			.acquirePermitAsync(LockRequest.builder("key").waitTime(Duration.ofSeconds(3)).build(), 2);
		Awaitility.await().until(() -> isAnswered(slow, "limit:key"));
		assertThat(endWithoutAnAnswer(slow, held, refused)).isInstanceOf(LockBusyException.class);
	}

	/**
	 * A process that asks the store for each lock.
	 */
	private LeaseLockRegistry asking() {
		return another(new LeaseLockRegistry(this.store,
				LockSettings.builder().handOffMaxDuration(Duration.ZERO).shutdownTimeout(Duration.ZERO).build()));
	}

	/**
	 * Release a lock, and leave the next call to the store without an answer.
	 * @return the exception of the request that makes this call
	 */
	private Throwable endWithoutAnAnswer(LeaseLockRegistry process, LockHandle held,
			CompletableFuture<LockHandle> waiting) {
		CountDownLatch asking = this.store.holdAcquires(this.done);
		held.releaseAsync();
		AbstractLeaseLockRegistryTests.awaitQuietly(asking);
		Throwable failure = waiting.handle((handle, ex) -> ex).orTimeout(30, TimeUnit.SECONDS).join();
		this.done.countDown();
		process.close();
		return failure;
	}

	@Test
	void overtakenRequestIsBusyAlthoughTheOvertakerGetsNoAnswer() {
		LockHandle held = this.registry.acquirePermitAsync(LockRequest.of("key"), 1).join();
		LockRequest request = LockRequest.builder("key").waitTime(Duration.ofSeconds(3)).build();
		CompletableFuture<LockHandle> overtaken = this.registry.acquirePermitAsync(request, 1);
		Awaitility.await().until(() -> isAnswered("limit:key"));
		CountDownLatch asking = this.store.holdAcquires(this.done);
		this.registry.acquirePermitAsync(LockRequest.of("key"), 2);
		AbstractLeaseLockRegistryTests.awaitQuietly(asking);
		assertThat(overtaken).failsWithin(Duration.ofSeconds(30))
			.withThrowableThat()
			.withCauseInstanceOf(LockBusyException.class);
		held.release();
	}

	private boolean isAnswered(String key) {
		return isAnswered(this.registry, key);
	}

	private static boolean isAnswered(LeaseLockRegistry registry, String key) {
		return registry.queues()
			.waiting()
			.stream()
			.anyMatch((queued) -> queued.context().key().equals(key) && registry.queues().latestAnswer(queued) != null);
	}

}
