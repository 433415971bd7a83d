package io.dlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Asynchronous requests to a store that is slow or stopped.
 */
abstract class AbstractAsyncRequestTests {

	final TroubledStore store = new TroubledStore();

	final LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
			LockSettings.builder().shutdownTimeout(Duration.ZERO).build());

	final CountDownLatch done = new CountDownLatch(1);

	@AfterEach
	void nothingIsLeft() {
		this.done.countDown();
		this.registry.close();
		Awaitility.await().until(() -> this.registry.queues().size() == 0);
		assertThat(this.registry.renewer().size()).isZero();
	}

	final CompletableFuture<LockHandle> acquire(String key, Duration waitTime) {
		return this.registry.acquireAsync(LockRequest.builder(key).waitTime(waitTime).build());
	}

}
