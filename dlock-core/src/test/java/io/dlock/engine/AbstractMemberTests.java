package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockRequestBuilder;
import io.dlock.LockSettings;
import io.dlock.engine.queue.StoreQueuePlaces;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two processes on one store, for locks that several callers hold at once.
 */
abstract class AbstractMemberTests extends AbstractLeaseLockRegistryTests {

	final LeaseLockRegistry other = new LeaseLockRegistry(this.store.memory, this.settings);

	private final List<LockHandle> held = new ArrayList<>();

	AbstractMemberTests() {
		this(COMMAND_TIMEOUT);
	}

	AbstractMemberTests(Duration commandTimeout) {
		super(commandTimeout);
	}

	@AfterEach
	void nothingIsLeftOfTheOther() {
		this.held.forEach(LockHandle::release);
		this.other.close();
		assertThat(this.other.queues().size()).as("local queues").isZero();
		assertThat(this.other.renewer().size()).as("kept leases").isZero();
		// a lock that was granted in vain is given back in the background
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.store.memory.list(10).locks()).as("locks in the store").isEmpty());
	}

	/**
	 * Hold a lock on no thread, to the end of the test.
	 */
	LockHandle hold(LeaseLockRegistry process, LockRequest request) {
		LockHandle handle = process.acquireAsync(request).join();
		this.held.add(handle);
		return handle;
	}

	/**
	 * A process that asks the store each time.
	 */
	final LeaseLockRegistry asking() {
		return another(new LeaseLockRegistry(this.store,
				LockSettings.builder()
					.commandTimeout(this.settings.commandTimeout())
					.handOffMaxDuration(Duration.ZERO)
					.build()));
	}

	/**
	 * A process that asks the store hardly ever.
	 */
	final LeaseLockRegistry patient() {
		return another(new LeaseLockRegistry(this.store, LockSettings.builder().handOffMaxDuration(LEASE).build()));
	}

	static LockRequestBuilder shared(String key) {
		return LockRequest.builder(key).mode(LockMode.SHARED).lease(LEASE).waitTime(Duration.ofSeconds(20));
	}

	static LockRequestBuilder exclusive(String key) {
		return shared(key).mode(LockMode.EXCLUSIVE);
	}

	static LockRequest tryShared(String key) {
		return shared(key).waitTime(Duration.ZERO).build();
	}

	/**
	 * Request a lock that is busy, and wait until the request is in its queue.
	 */
	CompletableFuture<LockHandle> waiting(LeaseLockRegistry process, LockRequest request) {
		int before = process.queues().waiting().size();
		CompletableFuture<LockHandle> future = process.acquireAsync(request);
		Awaitility.await().until(() -> process.queues().waiting().size() == before + 1);
		return future;
	}

	/**
	 * Wait until the first request of a process is in the queue of the store.
	 */
	static void awaitQueuedInStore(LeaseLockRegistry process) {
		StoreQueuePlaces places = new StoreQueuePlaces(process.queues());
		Awaitility.await().until(() -> process.queues().waiting().stream().anyMatch((each) -> places.of(each) != null));
	}

}
