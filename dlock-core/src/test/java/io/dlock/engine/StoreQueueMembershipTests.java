package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.queue.StoreQueueMembership;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.memory.Waiting;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The places of two processes in the queue of a store.
 */
class StoreQueueMembershipTests extends AbstractStoreQueueTests {

	@Test
	void tryIsNotQueued() throws Exception {
		Contended lock = contended(NEVER);
		LockHandle other = this.here.acquireAsync(LockRequest.of("other")).get();
		assertThat(lock.there().tryAcquire("other", Duration.ZERO)).isEmpty();
		assertThat(this.thereStore.asked.queueing()).isFalse();
		other.release();
		lock.handOver();
	}

	/**
	 * The mailbox is opened on a worker.
	 */
	@Test
	void tryOpensNoMailbox() {
		List<Thread> started = new CopyOnWriteArrayList<>();
		LeaseLockRegistry there = new LeaseLockRegistry(this.thereStore, this.here.settings(), MachineClock.SYSTEM,
				new EngineThreads((task) -> {
					Thread thread = new Thread(task);
					started.add(thread);
					return thread;
				}));
		this.others.add(there);
		LockHandle held = this.here.acquireAsync(patient()).join();
		assertThat(there.tryAcquire(impatient())).isEmpty();
		assertThat(started).extracting(Thread::getName).noneMatch((name) -> name.startsWith("dlock-worker"));
		held.release();
	}

	@Test
	void processWithoutMailboxIsQueued() throws Exception {
		this.thereStore.hasNoMailboxes = true;
		contended(Duration.ofMillis(100)).handOver();
	}

	@Test
	void otherProcessComesBeforeTheNextLocalRequest() throws Exception {
		LeaseLockRegistry there = registry(new PatientStore(this.thereStore, "9000"), NEVER, Duration.ofMillis(10));
		this.others.add(there);
		LockHandle held = heldHere();
		CompletableFuture<LockHandle> next = this.here.acquireAsync(patient());
		CompletableFuture<LockHandle> other = queued(there);
		held.release();
		assertThat(other.get().token()).isGreaterThan(held.token());
		assertThat(next).isNotDone();
		other.get().release();
		assertThat(next.get().token()).isGreaterThan(other.get().token());
		next.get().release();
	}

	@Test
	void busyProcessSharesWithAPollingProcess() throws Exception {
		this.thereStore.hasNoMailboxes = true;
		assertThatOtherProcessGetsTheLock();
	}

	@Test
	void busyProcessSharesWithAProcessWhoseMailboxFails() throws Exception {
		this.thereStore.mailboxesFail = true;
		assertThatOtherProcessGetsTheLock();
	}

	/**
	 * Several threads of this process pass the lock to each other without a pause.
	 */
	private void assertThatOtherProcessGetsTheLock() throws Exception {
		LeaseLockRegistry busy = registry(new TroubledStore(this.memory), Duration.ofMillis(100),
				Duration.ofMillis(10));
		this.others.add(busy);
		AtomicBoolean stop = new AtomicBoolean();
		List<CompletableFuture<Void>> threads = new ArrayList<>();
		CountDownLatch running = new CountDownLatch(3);
		for (int i = 0; i < 3; i++) {
			threads.add(CompletableFuture.runAsync(() -> {
				while (!stop.get()) {
					busy.execute(patient(), (handle) -> {
						running.countDown();
						return null;
					});
				}
			}, (task) -> new Thread(task).start()));
		}
		running.await();
		LeaseLockRegistry there = there(Duration.ofMillis(100));
		for (int i = 0; i < 5; i++) {
			there.acquireAsync(patient()).get().release();
		}
		stop.set(true);
		for (CompletableFuture<Void> thread : threads) {
			thread.get();
		}
	}

	/**
	 * The mailbox fails at first and is opened some seconds later: then the process is
	 * queued where it listens.
	 */
	@Test
	void listeningProcessIsQueuedOnlyAtItsMailbox() throws Exception {
		this.thereStore.mailboxesFail = true;
		Contended lock = contended(Duration.ofMillis(100));
		StoreQueueMembership membership = lock.there().membership();
		MailboxAddress polling = membership.address();
		this.thereStore.mailboxesFail = false;
		Awaitility.await().until(() -> this.thereStore.leaves.get() == 1);
		awaitQueued(1);
		assertThat(membership.isListening()).isTrue();
		assertThat(membership.address()).isNotNull().isNotEqualTo(polling);
		lock.handOver();
	}

	/**
	 * The lock is kept for the former address.
	 */
	@Test
	void signalAtFormerAddressIsPassedOn() throws Exception {
		this.thereStore.mailboxesFail = true;
		Contended lock = contended(Duration.ofMillis(100));
		AtomicReference<LockHandle> held = new AtomicReference<>(lock.held());
		MailboxAddress polling = lock.there().membership().address();
		assertThat(polling).isNotNull();
		this.thereStore.beforeAcquire = () -> {
			AcquireCommand asked = this.thereStore.asked;
			LockHandle handle = held.get();
			if (!polling.equals(asked.mailbox()) && handle != null && held.compareAndSet(handle, null)) {
				handle.release();
			}
		};
		this.thereStore.mailboxesFail = false;
		lock.waiter().get().release();
		assertThat(held).hasNullValue();
		Awaitility.await().until(() -> this.thereStore.leaves.get() == 1);
		heldHere().release();
	}

	/**
	 * The store grants the lock to the new address and knows nothing of the old one.
	 */
	@Test
	void placeAtFormerAddressIsLeftAfterAGrant() throws Exception {
		this.thereStore.mailboxesFail = true;
		Contended lock = contended(Duration.ofMillis(100));
		MailboxAddress polling = lock.there().membership().address();
		assertThat(polling).isNotNull();
		this.thereStore.beforeAcquire = () -> {
			if (!polling.equals(this.thereStore.asked.mailbox())) {
				this.elapsed.set(Duration.ofHours(1).toNanos());
			}
		};
		this.thereStore.mailboxesFail = false;
		LockHandle granted = lock.waiter().get();
		awaitQueued(0);
		lock.held().release();
		granted.release();
	}

	@Test
	void lastLeavingRequestLeavesTheQueue() throws Exception {
		LeaseLockRegistry there = there(Duration.ofMillis(20));
		LockHandle held = heldHere();
		Awaitility.await().until(() -> {
			assertThat(there.tryAcquire("key", Duration.ofMillis(200))).isEmpty();
			return this.thereStore.leaves.get() > 0;
		});
		awaitQueued(0);
		held.release();
		Optional<LockHandle> next = this.here.tryAcquire(impatient());
		assertThat(next).isPresent();
		next.get().release();
	}

	@Test
	void processWithAnotherWaiterKeepsItsPlace() throws Exception {
		LeaseLockRegistry there = there(NEVER);
		LockHandle held = heldHere();
		CompletableFuture<LockHandle> cancelled = there.acquireAsync(patient());
		CompletableFuture<LockHandle> waiter = queued(there);
		cancelled.cancel(false);
		held.release();
		waiter.get().release();
		assertThat(this.thereStore.leaves).hasValue(0);
	}

	/**
	 * The first has given up its wait, which is told to the store in the background.
	 */
	@Test
	void placeIsLeftToARequestThatComesMeanwhile() {
		LeaseLockRegistry there = there(NEVER);
		LockHandle held = this.here.acquireAsync(LockRequest.builder("key").lease(NEVER).build()).join();
		CompletableFuture<LockHandle> first = queued(there);
		CountDownLatch busy = new CountDownLatch(1);
		for (int i = 0; i < EngineThreads.WORKERS; i++) {
			there.threads().executeWork(() -> AbstractLeaseLockRegistryTests.awaitQuietly(busy));
		}
		first.cancel(false);
		int asked = this.thereStore.acquires.get();
		CompletableFuture<Long> next = CompletableFuture.supplyAsync(() -> there.execute(patient(), LockHandle::token));
		Awaitility.await().until(() -> this.thereStore.acquires.get() > asked);
		CyclicBarrier done = new CyclicBarrier(EngineThreads.WORKERS + 1);
		for (int i = 0; i < EngineThreads.WORKERS; i++) {
			there.threads().executeWork(() -> AbstractLeaseLockRegistryTests.awaitQuietly(done));
		}
		busy.countDown();
		AbstractLeaseLockRegistryTests.awaitQuietly(done);
		held.release();
		assertThat(next).succeedsWithin(Patience.EVENTUALLY);
		assertThat(this.thereStore.leaves).as("calls that leave").hasValue(0);
	}

	/**
	 * A process leaves both as a writer and as a reader.
	 */
	@Test
	void readerThatIsRefusedForItsWriterThatGivesUpAsksAgain() throws Exception {
		LeaseLockRegistry there = there(NEVER);
		LockRequest reading = patient().withMode(LockMode.SHARED);
		LockHandle held = this.here.acquireAsync(reading).get();
		CompletableFuture<LockHandle> writer = queued(there);
		CompletableFuture<LockHandle> reader = there.acquireAsync(reading);
		this.thereStore.beforeLeave = () -> awaitQueued(2);
		writer.cancel(false);
		awaitBeforeTheLeaseEnds(reader::isDone);
		reader.get().release();
		held.release();
	}

	/**
	 * A process that listens tries again at the end of the lease at the latest.
	 */
	private void awaitBeforeTheLeaseEnds(Callable<Boolean> condition) {
		Awaitility.await().atMost(this.here.settings().lease().dividedBy(2)).until(condition);
	}

	@Test
	void requestThatComesWhileThePlaceIsGivenUpIsQueued() throws Exception {
		Contended lock = contended(NEVER);
		CompletableFuture<CompletableFuture<LockHandle>> second = new CompletableFuture<>();
		int looks = this.thereStore.acquires.get();
		this.thereStore.beforeLeave = () -> {
			second.complete(lock.there().acquireAsync(patient()));
			Awaitility.await().until(() -> this.thereStore.acquires.get() > looks);
		};
		lock.waiter().cancel(false);
		CompletableFuture<LockHandle> waiting = second.get();
		awaitBeforeTheLeaseEnds(() -> this.thereStore.acquires.get() > looks + 1);
		awaitQueued(1);
		lock.held().release();
		waiting.get().release();
	}

	@Test
	void mailboxIsOpenedAtTheFirstWaitForAllKeys() throws Exception {
		LeaseLockRegistry there = there(NEVER);
		List<LockHandle> held = new ArrayList<>();
		List<CompletableFuture<LockHandle>> waiters = new ArrayList<>();
		there.acquire("uncontended").release();
		assertThat(Waiting.mailboxes(this.memory)).isZero();
		for (int i = 0; i < 100; i++) {
			LockRequest request = LockRequest.builder("key " + i).waitTime(LockRequest.FOREVER).build();
			held.add(this.here.acquireAsync(request).get());
			waiters.add(there.acquireAsync(request));
		}
		for (int i = 0; i < 100; i++) {
			String key = "key " + i;
			Awaitility.await().until(() -> Waiting.processes(this.memory, key) == 1);
		}
		assertThat(Waiting.mailboxes(this.memory)).isOne();
		held.forEach(LockHandle::release);
		for (CompletableFuture<LockHandle> waiter : waiters) {
			waiter.get().release();
		}
	}

	@Test
	void mailboxThatOpensWhileTheRegistryClosesIsClosed() {
		LeaseLockRegistry there = there(NEVER);
		LockHandle held = this.here.acquireAsync(patient()).join();
		CountDownLatch opening = new CountDownLatch(1);
		CountDownLatch closed = new CountDownLatch(1);
		this.thereStore.beforeMailbox = () -> {
			opening.countDown();
			AbstractLeaseLockRegistryTests.awaitQuietly(closed);
		};
		CompletableFuture<LockHandle> waiter = there.acquireAsync(patient());
		AbstractLeaseLockRegistryTests.awaitQuietly(opening);
		there.close();
		closed.countDown();
		Awaitility.await().until(there.threads()::isTerminated);
		assertThat(Waiting.mailboxes(this.memory)).isZero();
		assertThat(waiter).isCompletedExceptionally();
		held.release();
	}

}
