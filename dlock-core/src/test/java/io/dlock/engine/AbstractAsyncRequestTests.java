package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

	private final List<LeaseLockRegistry> others = new ArrayList<>();

	final CountDownLatch done = new CountDownLatch(1);

	@AfterEach
	void nothingIsLeft() {
		this.done.countDown();
		this.others.add(this.registry);
		this.others.forEach(LeaseLockRegistry::close);
		for (LeaseLockRegistry each : this.others) {
			Awaitility.await().until(() -> each.queues().size() == 0);
			assertThat(each.renewer().size()).isZero();
		}
	}

	/**
	 * Use another registry, which is closed after the test, and must leave nothing behind
	 * either.
	 */
	final LeaseLockRegistry another(LeaseLockRegistry other) {
		this.others.add(other);
		return other;
	}

	final CompletableFuture<LockHandle> acquire(String key, Duration waitTime) {
		return this.registry.acquireAsync(LockRequest.builder(key).waitTime(waitTime).build());
	}

}
