package io.dlock.store.quorum;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.QuorumCapable;
import io.dlock.store.RenewResult;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The threads of nodes that answer acquires late.
 */
class NodeThreadsTests {

	private static final int NODES = 3;

	/** As many as a node has, and more. */
	private static final int CALLERS = 20;

	private static final int THREADS = 8;

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final QuorumSettings SETTINGS = new QuorumSettings(Duration.ofMinutes(5), 0);

	private final CountDownLatch gate = new CountDownLatch(1);

	private final Semaphore waiting = new Semaphore(0);

	private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS + 1);

	@AfterEach
	void open() {
		this.gate.countDown();
		this.callers.shutdown();
	}

	private static AcquireCommand command(String key) {
		return new AcquireCommand(key, "owner", LEASE, "holder", "");
	}

	/**
	 * A store that answers an acquire of "late" when the gate is open.
	 */
	private LockStore late(MemoryLockStore memory) {
		return (LockStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { LockStore.class, QuorumCapable.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("acquire")
							&& ((AcquireCommand) arguments[0]).key().startsWith("late")) {
						this.waiting.release();
						this.gate.await();
					}
					try {
						return method.invoke(memory, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	private void awaitCommandsThatWait(int count) throws InterruptedException {
		assertThat(this.waiting.tryAcquire(count, Patience.EVENTUALLY.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
	}

	@Test
	void renewalIsSentAlthoughAcquiresWait() throws Exception {
		List<LockStore> nodes = Stream.generate(() -> late(new MemoryLockStore())).limit(NODES).toList();
		try (QuorumLockStore store = new QuorumLockStore(nodes, SETTINGS)) {
			try {
				assertThat(store.acquire(command("held"))).isInstanceOf(Granted.class);
				List<Future<?>> acquires = IntStream.range(0, CALLERS)
					.<Future<?>>mapToObj((i) -> this.callers.submit(() -> store.acquire(command("late" + i))))
					.toList();
				awaitCommandsThatWait(NODES * THREADS);
				Future<List<RenewResult>> renewed = this.callers
					.submit(() -> store.renew(List.of(new RenewCommand("held", "owner", LEASE))));
				assertThat(renewed).succeedsWithin(Patience.EVENTUALLY).isEqualTo(List.of(RenewResult.RENEWED));
				assertThat(acquires).noneMatch(Future::isDone);
			}
			finally {
				this.gate.countDown();
			}
		}
	}

	/**
	 * The caller has given up the acquire, which the node executes after the close.
	 */
	@Test
	void releaseOfAnAcquireThatIsUnderWayIsSentDuringTheClose() throws Exception {
		MemoryLockStore memory = new MemoryLockStore();
		NodeThreads threads = NodeThreads.create(1).get(0);
		Vote vote = new Vote(new QuorumNode(late(memory), threads, SETTINGS), "late", "owner", null);
		CompletableFuture<AcquireResult> granted = vote.acquire(command("late"), 0);
		awaitCommandsThatWait(1);
		vote.revoke();
		threads.close();
		this.gate.countDown();
		threads.await(Patience.EVENTUALLY.toNanos());
		assertThat(granted).isCompletedWithValueMatching(Granted.class::isInstance);
		assertThat(memory.find("late")).isEmpty();
	}

	/**
	 * No release would follow it.
	 */
	@Test
	void acquireBehindOneThatIsUnderWayIsNotSentDuringTheClose() throws Exception {
		MemoryLockStore memory = new MemoryLockStore();
		NodeThreads threads = NodeThreads.create(1).get(0);
		Vote vote = new Vote(new QuorumNode(late(memory), threads, SETTINGS), "late", "owner", null);
		var unused = vote.acquire(command("late"), 0);
		awaitCommandsThatWait(1);
		CompletableFuture<AcquireResult> next = vote.acquire(command("next"), 0);
		threads.close();
		this.gate.countDown();
		threads.await(Patience.EVENTUALLY.toNanos());
		assertThat(next).isCompletedExceptionally();
		assertThat(memory.find("next")).isEmpty();
	}

}
