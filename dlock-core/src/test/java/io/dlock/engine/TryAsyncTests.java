package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockStoreException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Asynchronous requests for which a busy lock is no failure.
 */
class TryAsyncTests extends AbstractLeaseLockRegistryTests {

	private final LockRequest waiting = request("key", LEASE, Duration.ofSeconds(30));

	@Test
	void busyLockIsAnEmptyResult() throws Exception {
		holdElsewhere("key", LEASE);
		assertThat(this.registry.tryAcquireAsync(noWait("key")).get()).isEmpty();
		assertThat(this.registry.tryAcquireAllAsync(noWait("set"), List.of("a", "key")).get()).isEmpty();
		Awaitility.await().until(() -> isFreeInStore("a"));
	}

	@Test
	void freeLockIsGranted() throws Exception {
		try (LockHandle handle = this.registry.tryAcquireAsync(noWait("key")).get().orElseThrow();
				LockSet set = this.registry.tryAcquireAllAsync(noWait("set"), List.of("a", "b")).get().orElseThrow()) {
			assertThat(handle.isValid()).isTrue();
			assertThat(set.keys()).containsExactly("a", "b");
		}
	}

	@Test
	void failureOfTheStoreIsNoEmptyResult() {
		this.store.down = true;
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(this.registry.tryAcquireAsync(noWait("key"))::get)
			.withCauseInstanceOf(LockStoreException.class);
		this.store.down = false;
	}

	@Test
	void cancelledResultGivesUpTheRequest() {
		holdElsewhere("key", LEASE);
		CompletableFuture<Optional<LockHandle>> one = this.registry.tryAcquireAsync(this.waiting);
		CompletableFuture<Optional<LockSet>> several = this.registry.tryAcquireAllAsync(this.waiting,
				List.of("a", "key"));
		Awaitility.await().until(() -> this.registry.counts().waiting() == 2 && !isFreeInStore("a"));
		one.cancel(false);
		several.completeExceptionally(new IllegalStateException("given up"));
		Awaitility.await().until(() -> this.registry.counts().waiting() == 0);
		Awaitility.await().until(() -> isFreeInStore("a"));
	}

}
