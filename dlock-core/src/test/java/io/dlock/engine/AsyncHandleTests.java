package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.test.ForcedLoss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Handles without a thread, which are nested on request and released without waiting.
 */
@Timeout(60)
class AsyncHandleTests {

	private final TroubledStore store = new TroubledStore();

	private final LeaseLockRegistry registry = registry();

	@AfterEach
	void nothingIsLeft() {
		this.registry.close();
		assertThat(this.registry.queues().size()).isZero();
		assertThat(this.registry.renewer().size()).isZero();
	}

	private LeaseLockRegistry registry() {
		return new LeaseLockRegistry(this.store,
				LockSettings.builder()
					.commandTimeout(Duration.ofSeconds(5))
					.waitTime(Duration.ZERO)
					.shutdownTimeout(Duration.ZERO)
					.build());
	}

	@Test
	void outerHandleGivesANestedHandleAtOnce() {
		LockRequest request = LockRequest.of("key");
		LockHandle outer = this.registry.acquireAsync(request).join();
		CompletableFuture<LockHandle> nested = this.registry.acquireAsync(request, outer);
		assertThat(nested).isCompleted();
		LockHandle inner = nested.join();
		assertThat(inner.token()).isEqualTo(outer.token());
		assertThat(LockHandle.current()).isEmpty();
		outer.release();
		assertThat(inner.isValid()).isTrue();
		assertThat(this.store.memory.find("key")).isPresent();
		inner.releaseAsync().join();
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void releasedOrForeignHandleIsNotOuter() {
		LockRequest request = LockRequest.of("key");
		LockHandle other = this.registry.acquireAsync(LockRequest.of("other")).join();
		LockHandle handle = this.registry.acquireAsync(request, other).join();
		assertThat(catchThrowable(
				this.registry.acquireAsync(LockRequest.builder("key").reentrant(false).build(), handle)::join))
			.as("not reentrant")
			.isNotNull();
		try (LeaseLockRegistry elsewhere = registry()) {
			assertThat(catchThrowable(elsewhere.acquireAsync(request, handle)::join)).as("another process").isNotNull();
		}
		handle.release();
		LockHandle next = this.registry.acquireAsync(request, handle).join();
		assertThat(next.token()).isGreaterThan(handle.token());
		next.release();
		other.release();
	}

	@Test
	void r49ReleaseWhoseFutureIsCancelledIsPublished() {
		List<LockEvent> events = new CopyOnWriteArrayList<>();
		this.registry.addListener(events::add);
		CountDownLatch answer = releasesAwait();
		LockHandle handle = this.registry.acquire("key");
		assertThat(handle.releaseAsync().cancel(false)).isTrue();
		answer.countDown();
		Awaitility.await()
			.untilAsserted(() -> assertThat(events).hasSize(2).last().isInstanceOf(LockEvent.Released.class));
	}

	private CountDownLatch releasesAwait() {
		CountDownLatch answer = new CountDownLatch(1);
		this.store.beforeRelease = () -> {
			try {
				answer.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		};
		return answer;
	}

	@Test
	void r49ReleaseAsyncDoesNotWaitForTheStore() throws Exception {
		CountDownLatch answer = releasesAwait();
		LockHandle handle = this.registry.acquire("key");
		CompletableFuture<Void> released = handle.releaseAsync();
		assertThat(handle.isValid()).isFalse();
		assertThat(LockHandle.current()).isEmpty();
		assertThat(released).isNotDone();
		answer.countDown();
		released.get(10, TimeUnit.SECONDS);
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void releaseWithoutAnAnswerCompletesAndIsRepeated() {
		this.store.lostReleases.set(1);
		LockHandle handle = this.registry.acquire("key");
		assertThat(handle.releaseAsync().join()).isNull();
		Awaitility.await().until(() -> this.store.memory.find("key").isEmpty());
	}

	@Test
	void nextLocalRequestTakesOverWithoutTheStore() {
		LockHandle handle = this.registry.acquire("key");
		CompletableFuture<LockHandle> next = this.registry
			.acquireAsync(LockRequest.builder("key").waitTime(Duration.ofSeconds(20)).build());
		Awaitility.await().until(() -> this.registry.queues().size() > 0);
		handle.releaseAsync().join();
		next.join().releaseAsync().join();
		assertThat(this.store.memory.find("key")).isEmpty();
	}

	@Test
	void r9LossIsToldToANestedHandle() {
		LockRequest request = LockRequest.of("key");
		LockHandle outer = this.registry.acquireAsync(request).join();
		LockHandle nested = this.registry.acquireAsync(request, outer).join();
		ForcedLoss.of(this.registry, outer);
		assertThat(nested.releaseAsync().handle((done, ex) -> ex).join()).isInstanceOf(LockLostException.class);
		assertThat(outer.releaseAsync().handle((done, ex) -> ex).join()).isInstanceOf(LockLostException.class);
	}

	@Test
	void nestedHandleOfALostLockIsRefused() {
		LockRequest request = LockRequest.of("key");
		LockHandle outer = this.registry.acquireAsync(request).join();
		ForcedLoss.of(this.registry, outer);
		assertThat(catchThrowable(this.registry.acquireAsync(request, outer)::join))
			.hasCauseInstanceOf(LockLostException.class);
		assertThat(outer.releaseAsync().handle((done, ex) -> ex).join()).isInstanceOf(LockLostException.class);
		assertThat(outer.releaseAsync()).as("the second time").isCompletedWithValue(null);
	}

}
