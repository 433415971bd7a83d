package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.store.LockStore.AcquireCommand;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A registry on a store whose answers get lost on demand. Each test must leave nothing
 * behind.
 */
@Timeout(60)
abstract class AbstractLeaseLockRegistryTests {

	static final Duration LEASE = Duration.ofSeconds(20);

	/**
	 * A lease that runs out while a test waits for that.
	 */
	static final Duration SHORT_LEASE = Duration.ofSeconds(2);

	/**
	 * A lease that is renewed while a test waits for that, and that lasts although the
	 * machine is busy.
	 */
	static final Duration RENEWED_LEASE = Duration.ofSeconds(5);

	/**
	 * Long enough for a busy machine. A request that does not wait fails if its thread
	 * starts later than this, and a registry that closes gives up its releases after
	 * twice this time.
	 */
	static final Duration COMMAND_TIMEOUT = LEASE.dividedBy(4);

	/**
	 * For short leases that are renewed, and for tests that wait until it is over.
	 */
	static final Duration SHORT_COMMAND_TIMEOUT = Duration.ofMillis(50);

	final TroubledStore store = new TroubledStore();

	final LockSettings settings;

	final LeaseLockRegistry registry;

	private final List<LeaseLockRegistry> others = new ArrayList<>();

	AbstractLeaseLockRegistryTests() {
		this(COMMAND_TIMEOUT);
	}

	AbstractLeaseLockRegistryTests(Duration commandTimeout) {
		this.settings = LockSettings.builder()
			.commandTimeout(commandTimeout)
			.waitTime(Duration.ofSeconds(5))
			.shutdownTimeout(Duration.ZERO)
			.instance("test")
			.build();
		this.registry = new LeaseLockRegistry(this.store, this.settings);
	}

	/**
	 * A test must not wait until a lock that it wants to be released ends by itself.
	 */
	@BeforeEach
	void waitForLessThanALease() {
		Awaitility.setDefaultTimeout(LEASE.dividedBy(2));
	}

	@AfterEach
	void nothingIsLeft() {
		Thread.interrupted();
		assertThat(TestContexts.dropHandles()).as("handles bound to the thread").isEmpty();
		this.others.add(this.registry);
		this.others.forEach(LeaseLockRegistry::close);
		assertThat(this.others).allSatisfy((each) -> {
			assertThat(each.queues().size()).as("local queues").isZero();
			assertThat(each.renewer().size()).as("kept leases").isZero();
		});
	}

	/**
	 * Use another registry, which is closed after the test, and must leave nothing behind
	 * either.
	 */
	final LeaseLockRegistry another(LeaseLockRegistry other) {
		this.others.add(other);
		return other;
	}

	static LockRequest request(String key, Duration lease, Duration waitTime) {
		return LockRequest.builder(key).lease(lease).waitTime(waitTime).build();
	}

	static LockRequest noWait(String key) {
		return request(key, LEASE, Duration.ZERO);
	}

	boolean isFreeInStore(String key) {
		return this.store.memory.find(key).isEmpty();
	}

	/**
	 * Acquire a lock directly in the store, as another process does.
	 */
	void holdElsewhere(String key, Duration lease) {
		this.store.memory.acquire(new AcquireCommand(key, "elsewhere", lease, "another instance", ""));
	}

	static <T> CompletableFuture<T> inOtherThread(Callable<T> call) {
		CompletableFuture<T> result = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				result.complete(call.call());
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		});
		thread.setDaemon(true);
		thread.start();
		return result;
	}

	int waitersOf(String key) {
		return TestContexts.waiters(this.registry, key);
	}

	static void awaitQuietly(CyclicBarrier barrier) {
		try {
			barrier.await();
		}
		catch (InterruptedException | BrokenBarrierException ex) {
			Thread.currentThread().interrupt();
		}
	}

	static void awaitQuietly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
