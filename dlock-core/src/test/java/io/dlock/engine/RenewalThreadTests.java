package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.TurnedClock;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The thread that renews leases, which starts when the first of them is due.
 */
@Timeout(60)
class RenewalThreadTests {

	private static final Duration LEASE = Duration.ofSeconds(10);

	private final TurnedClock clock = new TurnedClock();

	private final TroubledStore store = new TroubledStore(new MemoryLockStore(this.clock::nanoTime));

	private final AtomicInteger refused = new AtomicInteger();

	private final List<Thread> started = new CopyOnWriteArrayList<>();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
			LockSettings.builder().lease(LEASE).shutdownTimeout(Duration.ZERO).build(), this.clock,
			new EngineThreads(this::newThread));

	private volatile boolean noThreads;

	@AfterEach
	void close() {
		this.registry.close();
	}

	private Thread newThread(Runnable task) {
		if (this.noThreads) {
			this.refused.incrementAndGet();
			throw new OutOfMemoryError("unable to create native thread");
		}
		Thread thread = new Thread(task);
		this.started.add(thread);
		return thread;
	}

	@Test
	void leaseIsRenewedOnceThereIsAThreadAgain() {
		LockHandle handle = this.registry.acquireAsync(LockRequest.of("key")).join();
		this.noThreads = true;
		this.clock.pass(LEASE.dividedBy(3));
		Awaitility.await().until(() -> {
			AbstractHandOffTests.lookAfterLeases(this.registry);
			return this.refused.get() > 0;
		});
		this.noThreads = false;
		awaitRenewal(handle);
		handle.release();
	}

	private void awaitRenewal(LockHandle handle) {
		Awaitility.await().until(() -> {
			this.clock.pass(LEASE.dividedBy(500));
			AbstractHandOffTests.lookAfterLeases(this.registry);
			return this.store.renewals.get() > 0
					&& handle.remaining().compareTo(LEASE.dividedBy(4).multipliedBy(3)) > 0;
		});
	}

	@Test
	void closeEndsTheThread() {
		LockHandle handle = this.registry.acquireAsync(LockRequest.of("key")).join();
		this.clock.pass(LEASE.dividedBy(3));
		awaitRenewal(handle);
		handle.release();
		assertThat(this.started).anyMatch((thread) -> thread.getName().startsWith("dlock-renewal"));
		this.registry.close();
		Awaitility.await().until(() -> this.started.stream().noneMatch(Thread::isAlive));
	}

}
