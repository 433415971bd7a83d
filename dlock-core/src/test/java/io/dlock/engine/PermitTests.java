package io.dlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.engine.lease.Lease;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.memory.Waiting;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class PermitTests extends AbstractMemberTests {

	private static LockRequest request(String key) {
		return exclusive(key).build();
	}

	private List<LockHandle> take(LeaseLockRegistry process, int count, int limit) {
		return new ArrayList<>(IntStream.range(0, count)
			.mapToObj((i) -> process.acquirePermitAsync(request("key"), limit).join())
			.toList());
	}

	@Test
	void limitHoldsOverAllProcesses() {
		List<LockHandle> permits = take(this.registry, 2, 3);
		permits.addAll(take(this.other, 1, 3));
		assertThat(permits).allMatch(LockHandle::isValid).extracting(LockHandle::token).doesNotHaveDuplicates();
		assertThat(permits).extracting(LockHandle::key).containsOnly("limit:key");
		assertThat(this.registry.tryAcquirePermit(noWait("key"), 3)).isEmpty();
		assertThat(this.other.tryAcquirePermit(noWait("key"), 3)).isEmpty();
		this.registry.acquire(noWait("key")).release();
		CompletableFuture<LockHandle> next = this.registry.acquirePermitAsync(request("key"), 3);
		permits.remove(2).release();
		permits.add(next.join());
		permits.forEach(LockHandle::release);
		assertThat(isFreeInStore("limit:key")).isTrue();
	}

	@Test
	void eachCallTakesAPermitOfItsOwn() {
		try (LockHandle one = this.registry.acquirePermit("key", 2);
				LockHandle two = this.registry.acquirePermit("key", 2)) {
			assertThat(one.token()).isNotEqualTo(two.token());
			assertThat(LockHandle.current()).containsSame(two);
			assertThat(this.registry.tryAcquirePermit("key", 2, Duration.ZERO)).isEmpty();
			assertThat(this.registry.tryAcquirePermit("key", 3, Duration.ZERO)).hasValueSatisfying(LockHandle::release);
		}
	}

	@Test
	void viewOfALockDoesNotReleaseThePermitOfItsThread() {
		try (LockHandle permit = this.registry.acquirePermit("key", 2)) {
			assertThatExceptionOfType(IllegalMonitorStateException.class)
				.isThrownBy(this.registry.lock(permit.key())::unlock);
			assertThat(permit.isValid()).isTrue();
		}
	}

	@Test
	void threadWithAPermitHoldsNoLockOfItsKey() {
		try (LockHandle permit = this.registry.acquirePermit("key", 2)) {
			assertThat(this.registry.isHeldByCurrentThread(permit.key())).isFalse();
			assertThat(this.registry.isHeldByCurrentThread("key")).isFalse();
		}
		try (LockHandle lock = this.registry.acquire(request("limit:key"))) {
			assertThat(this.registry.isHeldByCurrentThread(lock.key())).isTrue();
		}
		try (LockHandle lock = this.registry.acquire(shared("limit:key").build());
				LockHandle permit = this.registry.acquirePermit("key", 2)) {
			assertThat(permit.key()).isEqualTo(lock.key());
			assertThat(this.registry.isHeldByCurrentThread(lock.key())).as("by the outer lock").isTrue();
		}
	}

	@Test
	void lockThatWaitsForThePermitOfItsThreadIsRefusedAtOnce() {
		try (LockHandle permit = this.registry.acquirePermit("key", 2)) {
			assertThatIllegalStateException().isThrownBy(() -> this.registry.acquire(request(permit.key())))
				.withMessageContaining("Release the permit");
			assertThat(permit.isValid()).isTrue();
		}
	}

	@Test
	void permitIsPassedOnWithoutTheStore() {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().handOffMaxDuration(LEASE).build());
		LockHandle held = patient.acquirePermitAsync(request("key"), 1).join();
		List<CompletableFuture<LockHandle>> waiting = IntStream.range(0, 3)
			.mapToObj((i) -> patient.acquirePermitAsync(request("key"), 1))
			.toList();
		Awaitility.await().until(() -> patient.queues().waiting().size() == 3);
		held.release();
		assertThat(this.store.releases).hasValue(0);
		List<Long> tokens = new ArrayList<>(List.of(held.token()));
		for (int i = 0; i < 3; i++) {
			CompletableFuture.anyOf(
					waiting.stream().filter((each) -> !tokens.contains(token(each))).toArray(CompletableFuture[]::new))
				.join();
			LockHandle next = waiting.stream()
				.filter((each) -> each.isDone() && !tokens.contains(token(each)))
				.findFirst()
				.orElseThrow()
				.join();
			assertThat(next.token()).isGreaterThan(tokens.get(i));
			tokens.add(next.token());
			next.release();
		}
		assertThat(this.store.releases).hasValue(1);
		patient.close();
	}

	/**
	 * The store would reserve the permit for a process that does not wait any more.
	 */
	@Test
	void requestThatIsPassedAPermitLeavesTheQueueOfTheStore() {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().handOffMaxDuration(LEASE).build());
		LockHandle held = patient.acquirePermitAsync(request("key"), 1).join();
		CompletableFuture<LockHandle> next = patient.acquirePermitAsync(request("key"), 1);
		Awaitility.await().until(() -> Waiting.processes(this.store.memory, "limit:key") == 1);
		held.release();
		LockHandle passedOn = next.join();
		assertThat(this.store.releases).hasValue(0);
		Awaitility.await().until(() -> Waiting.processes(this.store.memory, "limit:key") == 0);
		passedOn.release();
		patient.close();
	}

	/**
	 * A driver parks the thread during its call, which consumes the signal.
	 */
	@Test
	@Timeout(20)
	void permitThatIsPassedOnDuringTheCallOfTheFirstIsTaken() {
		Duration never = Duration.ofHours(1);
		LockRequest request = LockRequest.builder("key").lease(never).waitTime(never).build();
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().maxPollInterval(never).handOffMaxDuration(never).build());
		patient.membership().listen();
		Awaitility.await().until(() -> patient.membership().isListening());
		AtomicReference<LockHandle> held = new AtomicReference<>(patient.acquirePermitAsync(request, 1).join());
		this.store.afterAcquire = () -> {
			LockHandle handle = held.getAndSet(null);
			if (handle != null) {
				handle.release();
				LockSupport.parkNanos(1);
			}
		};
		patient.acquirePermit(request, 1).release();
		assertThat(this.store.acquires).hasValue(2);
		patient.close();
	}

	/**
	 * The call may have granted a permit of its own.
	 */
	@Test
	void callWithoutAnswerOfARequestThatIsPassedAPermitIsRevoked() {
		LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().handOffMaxDuration(LEASE).build());
		LockHandle held = patient.acquirePermitAsync(request("key"), 2).join();
		this.store.lostAcquireReplies.set(1);
		this.store.afterAcquire = () -> {
			this.store.afterAcquire = () -> {
			};
			held.release();
		};
		LockHandle next = patient.acquirePermitAsync(request("key"), 2).join();
		assertThat(next.token()).as("passed on").isEqualTo(held.token() + 1);
		next.release();
		Awaitility.await().until(() -> isFreeInStore("limit:key"));
		patient.close();
	}

	private static long token(CompletableFuture<LockHandle> future) {
		return future.isDone() ? future.join().token() : 0;
	}

	@Test
	void limitChangesWithoutAReset() {
		List<LockHandle> permits = take(this.registry, 5, 5);
		assertThat(this.registry.tryAcquirePermit(noWait("key"), 3)).isEmpty();
		permits.remove(0).release();
		permits.remove(0).release();
		assertThat(this.registry.tryAcquirePermit(noWait("key"), 3)).isEmpty();
		assertThat(permits).allMatch(LockHandle::isValid);
		permits.remove(0).release();
		permits.addAll(take(this.registry, 1, 3));
		permits.addAll(take(this.registry, 2, 5));
		assertThat(this.registry.tryAcquirePermit(noWait("key"), 5)).isEmpty();
		permits.forEach(LockHandle::release);
	}

	/**
	 * Threads of two processes that ask for permits of one key with the same limit. Those
	 * that have one keep it until they are let go, and then take turns.
	 */
	private final class Callers {

		private final int limit;

		private final PermitCount all;

		private final PermitCount own = new PermitCount();

		private final AtomicInteger cycles = new AtomicInteger();

		private final CountDownLatch go = new CountDownLatch(1);

		private final List<CompletableFuture<Integer>> threads;

		Callers(int limit, PermitCount all, LeaseLockRegistry process) {
			this.limit = limit;
			this.all = all;
			this.threads = IntStream.range(0, 10)
				.mapToObj((i) -> inOtherThread(() -> call((i % 2 == 0) ? process : PermitTests.this.other)))
				.toList();
		}

		private int call(LeaseLockRegistry process) throws InterruptedException {
			while (this.cycles.incrementAndGet() < 400) {
				try (LockHandle permit = process.acquirePermit(exclusive("key").waitTime(LockRequest.FOREVER).build(),
						this.limit)) {
					this.own.add();
					this.all.add();
					this.go.await();
					permit.assertHeld();
					this.all.remove();
					this.own.remove();
				}
			}
			return 0;
		}

		void end() {
			this.go.countDown();
			assertThat(CompletableFuture.allOf(this.threads.toArray(CompletableFuture[]::new)))
				.succeedsWithin(Patience.EVENTUALLY);
			assertThat(this.own.most).as("held at once with the limit " + this.limit)
				.hasValueLessThanOrEqualTo(this.limit);
		}

	}

	private static final class PermitCount {

		private final AtomicInteger now = new AtomicInteger();

		private final AtomicInteger most = new AtomicInteger();

		void add() {
			this.most.accumulateAndGet(this.now.incrementAndGet(), Math::max);
		}

		void remove() {
			this.now.decrementAndGet();
		}

		void await(int permits) {
			Awaitility.await().until(() -> this.now.get() >= permits);
		}

	}

	@Test
	void limitChangesWhilePermitsAreHeldAndWaitedFor() {
		LeaseLockRegistry patient = patient();
		PermitCount all = new PermitCount();
		Callers before = new Callers(5, all, patient);
		before.own.await(5);
		Callers lower = new Callers(3, all, patient);
		Awaitility.await().until(() -> patient.queues().waiting().size() + this.other.queues().waiting().size() == 15);
		before.end();
		lower.own.await(3);
		assertThat(all.now).as("held once those of 5 have ended").hasValue(3);
		assertThat(this.registry.tryAcquirePermit(noWait("key"), 3)).isEmpty();
		Callers after = new Callers(5, all, patient);
		after.own.await(2);
		after.go.countDown();
		lower.end();
		after.end();
		assertThat(all.most).as("held at once").hasValue(5);
		assertThat(isFreeInStore("limit:key")).isTrue();
	}

	@Test
	void requestWithALowerLimitDoesNotKeepOthersFromFreePlaces() {
		List<LockHandle> permits = take(this.other, 3, 5);
		CompletableFuture<LockHandle> low = this.registry.acquirePermitAsync(request("key"), 3);
		Awaitility.await().until(() -> Waiting.processes(this.store.memory, "limit:key") == 1);
		try (LockHandle tried = this.registry.tryAcquirePermit(noWait("key"), 5).orElseThrow()) {
			permits.add(this.registry.acquirePermitAsync(request("key"), 5).join());
			assertThat(this.registry.tryAcquirePermit(noWait("key"), 5)).isEmpty();
			assertThat(tried.isValid()).isTrue();
		}
		assertThat(low).isNotDone();
		permits.forEach(LockHandle::release);
		low.join().release();
	}

	/**
	 * It comes while the request before it is asking.
	 */
	@Test
	void requestWithAHigherLimitOvertakesOneThatIsRefusedLater() {
		List<LockHandle> permits = take(this.other, 3, 5);
		CountDownLatch release = new CountDownLatch(1);
		CountDownLatch arrived = this.store.holdAcquires(release);
		CompletableFuture<LockHandle> low = this.registry.acquirePermitAsync(request("key"), 3);
		awaitQuietly(arrived);
		CompletableFuture<LockHandle> high = this.registry.acquirePermitAsync(request("key"), 5);
		CompletableFuture<LockHandle> tried = this.registry.acquirePermitAsync(noWait("key"), 5);
		Awaitility.await().until(() -> this.registry.queues().waiting().size() == 3);
		release.countDown();
		permits.add(high.join());
		permits.add(tried.join());
		assertThat(low).isNotDone();
		permits.forEach(LockHandle::release);
		low.join().release();
	}

	/**
	 * The request behind which the try watches has not asked again.
	 */
	@Test
	void refusalFromBeforeAReleaseIsNoAnswerForATry() {
		LeaseLockRegistry asking = new LeaseLockRegistry(this.store,
				this.settings.toBuilder().handOffMaxDuration(Duration.ZERO).build());
		List<LockHandle> permits = take(asking, 2, 2);
		CompletableFuture<LockHandle> next = asking.acquirePermitAsync(request("key"), 2);
		Awaitility.await().until(() -> Waiting.processes(this.store.memory, "limit:key") == 1);
		CountDownLatch release = new CountDownLatch(1);
		CountDownLatch arrived = this.store.holdAcquires(release);
		permits.forEach(LockHandle::release);
		awaitQuietly(arrived);
		CompletableFuture<LockHandle> tried = asking.acquirePermitAsync(noWait("key"), 2);
		release.countDown();
		tried.join().release();
		next.join().release();
		asking.close();
	}

	@Test
	void cancelledRequestLeavesNothing() {
		LockHandle permit = take(this.registry, 1, 1).get(0);
		CompletableFuture<LockHandle> cancelled = this.registry.acquirePermitAsync(request("key"), 1);
		CompletableFuture<LockHandle> next = this.registry.acquirePermitAsync(request("key"), 1);
		cancelled.cancel(false);
		permit.release();
		next.join().release();
		Awaitility.await().until(() -> isFreeInStore("limit:key"));
	}

	@Test
	void lostPermitIsToldAndDoesNotBlock() {
		LockHandle permit = take(this.registry, 1, 1).get(0);
		this.registry.console().forceRelease("limit:key", permit.token());
		assertThat(permit.isValid()).isFalse();
		take(this.registry, 1, 1).get(0).release();
	}

	@Test
	void badRequestsAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquirePermit("key", 0));
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquirePermit("key", 1001));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.registry.acquirePermit(request("key").withMode(LockMode.SHARED), 2));
		String longest = "x".repeat(LockRequest.MAX_KEY_LENGTH - "limit:".length());
		this.registry.acquirePermit(request(longest), 2).release();
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquirePermit(request(longest + "x"), 2))
			.withMessageContaining("a permit must not be longer than 65530 characters but has 65531");
		this.store.hasNoMembers = true;
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquirePermit("key", 2))
			.withMessageContaining("troubled");
	}

	/** Sets of permits stay in Redisson (issues 4100, 6302). */
	@Test
	void tenThousandKeysLeaveNothing() {
		for (int i = 0; i < 10_000; i++) {
			LockHandle permit = this.registry.acquirePermit(request("key" + i), 2);
			if (i % 100 == 0) {
				this.registry.acquirePermit(request("key" + i), 2).release();
			}
			permit.release();
		}
		assertThat(this.registry.queues().size()).isZero();
		assertThat(this.registry.renewer().size()).isZero();
		assertThat(this.store.memory.list(10).locks()).isEmpty();
	}

	/** Counters lose permits with a crash in Redisson (issues 2045, 2213, 4462). */
	@Test
	void neverMoreThanTheLimitAlthoughHoldersDie() {
		int limit = 3;
		AtomicInteger inside = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		AtomicInteger cycles = new AtomicInteger();
		AtomicBoolean over = new AtomicBoolean();
		List<CompletableFuture<Integer>> workers = IntStream.range(0, 8).mapToObj((i) -> inOtherThread(() -> {
			LeaseLockRegistry process = (i % 2 == 0) ? this.registry : this.other;
			while (!over.get() && cycles.incrementAndGet() < 6000) {
				try (LockHandle permit = process.acquirePermit(exclusive("key").waitTime(LockRequest.FOREVER).build(),
						limit)) {
					most.accumulateAndGet(inside.incrementAndGet(), Math::max);
					LockSupport.parkNanos(50_000);
					permit.assertHeld();
					inside.decrementAndGet();
				}
				if (ThreadLocalRandom.current().nextInt(50) == 0) {
					dieWithAPermit(limit);
				}
			}
			return 0;
		})).toList();
		Awaitility.await()
			.atMost(Duration.ofSeconds(50))
			.until(() -> workers.stream().allMatch(CompletableFuture::isDone));
		over.set(true);
		workers.forEach(CompletableFuture::join);
		assertThat(most.get()).isBetween(1, limit);
		Awaitility.await().until(() -> isFreeInStore("limit:key"));
	}

	private void dieWithAPermit(int limit) {
		this.store.memory.acquire(new AcquireCommand("limit:key", LockStore.memberOwner(Lease.newOwner()),
				Duration.ofMillis(5), "dies", "", null, false, null, limit));
	}

}
