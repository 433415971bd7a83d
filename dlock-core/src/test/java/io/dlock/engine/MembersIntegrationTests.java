package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockSettings;
import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Shared locks, permits and sets of two instances on real servers, judged by counts that
 * the locks know nothing of.
 */
@Timeout(180)
class MembersIntegrationTests {

	/** A long run: {@code -Ddlock.test.cycles=1000000}, without the timeout of JUnit. */
	private static final int CYCLES = Integer.getInteger("dlock.test.cycles", 400);

	private static final int LIMIT = 3;

	/** How long a lock is held, so that holders that must not meet would. */
	private static final long HOLD_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

	private final LockSettings settings = LockSettings.builder()
		.lease(Duration.ofSeconds(40))
		.commandTimeout(Duration.ofSeconds(10))
		.shutdownTimeout(Duration.ZERO)
		.build();

	private final LockRequest exclusive = LockRequest.builder("members/" + UUID.randomUUID())
		.waitTime(Duration.ofSeconds(120))
		.build();

	private final AtomicInteger cycles = new AtomicInteger();

	private final AtomicInteger readers = new AtomicInteger();

	private final AtomicInteger writers = new AtomicInteger();

	/** The latest ends of the leases of killed processes, in nanoseconds. */
	private final Queue<Long> killed = new ConcurrentLinkedQueue<>();

	private final AtomicLong highestOfWriters = new AtomicLong();

	/**
	 * While a writer holds the lock, a reader of a third instance comes. All others are
	 * in the queue by then.
	 */
	@ParameterizedTest
	@MethodSource("io.dlock.engine.TwoProcessesIntegrationTests#stores")
	void readersNeverMeetAWriter(String address) {
		LockRequest shared = this.exclusive.withMode(LockMode.SHARED);
		LockRequest tried = LockRequest.builder(shared.key()).mode(LockMode.SHARED).waitTime(Duration.ZERO).build();
		try (LockStore elsewhere = HolderProcess.store(address, this.settings.commandTimeout());
				LeaseLockRegistry third = new LeaseLockRegistry(elsewhere, this.settings)) {
			run(address, (registry, store, cycle) -> {
				if (cycle % 5 != 0) {
					read(registry.acquire(shared));
					return;
				}
				LockHandle writer = registry.acquire(this.exclusive);
				assertThat(this.writers.incrementAndGet()).as("writers").isOne();
				assertThat(this.readers).as("readers beside a writer").hasValue(0);
				assertThat(writer.token()).isGreaterThan(this.highestOfWriters.getAndSet(writer.token()));
				third.tryAcquire(tried).ifPresent(this::read);
				LockSupport.parkNanos(HOLD_NANOS);
				assertThat(this.readers).as("readers beside a writer").hasValue(0);
				this.writers.decrementAndGet();
				if (cycle % 2 == 0) {
					read(writer.downgrade());
				}
				else {
					writer.release();
				}
			});
		}
	}

	private void read(LockHandle reader) {
		this.readers.incrementAndGet();
		assertThat(this.writers).as("writers beside a reader").hasValue(0);
		assertThat(reader.token()).isGreaterThan(this.highestOfWriters.get());
		LockSupport.parkNanos(HOLD_NANOS);
		this.readers.decrementAndGet();
		reader.release();
	}

	/**
	 * Each hundredth permit is that of a process that is killed: it is neither renewed
	 * nor given back.
	 */
	@ParameterizedTest
	@MethodSource("io.dlock.engine.TwoProcessesIntegrationTests#stores")
	void permitsAreNeverMoreThanTheLimit(String address) {
		run(address, (registry, store, cycle) -> {
			if (cycle % 100 == 0) {
				String owner = LockStore.memberOwner(UUID.randomUUID().toString());
				dieHolding(store, "limit:" + this.exclusive.key(), owner, LIMIT);
				assertLimit(this.readers::get);
				return;
			}
			try (LockHandle permit = registry.acquirePermit(this.exclusive, LIMIT)) {
				assertLimit(this.readers::incrementAndGet);
				LockSupport.parkNanos(HOLD_NANOS);
				permit.assertHeld();
				this.readers.decrementAndGet();
			}
		});
		assertThat(this.killed).as("ends of the leases of killed processes").isNotEmpty();
	}

	/**
	 * The permits of killed processes count if they were held before the others are
	 * counted and are held afterwards.
	 */
	private void assertLimit(IntSupplier others) {
		List<Long> before = List.copyOf(this.killed);
		int living = others.getAsInt();
		long now = System.nanoTime();
		assertThat(living + before.stream().filter((end) -> end - now > 0).count()).isLessThanOrEqualTo(LIMIT);
	}

	/**
	 * Wait for the key like a process of its own, and leave it to the end of its lease,
	 * which is in the store not earlier than noted here.
	 */
	private void dieHolding(LockStore store, String key, String owner, int limit) {
		Duration lease = Duration.ofMillis(200);
		AcquireCommand command = new AcquireCommand(key, owner, lease, "killed", "",
				MailboxAddress.create(Duration.ofMillis(500)), true, null, limit);
		long end = System.nanoTime() + lease.toNanos();
		while (!(store.acquire(command) instanceof AcquireResult.Granted)) {
			LockSupport.parkNanos(HOLD_NANOS);
			end = System.nanoTime() + lease.toNanos();
		}
		this.killed.add(end);
		if (this.killed.size() > 10 * LIMIT) {
			this.killed.remove();
		}
	}

	/**
	 * A process that takes one of the keys may be killed before it has the other.
	 */
	@Test
	void setsInOppositeOrdersDoNotWaitForEachOther() {
		RedisServer redis = RedisServer.shared();
		List<String> keys = List.of(this.exclusive.key(), this.exclusive.key() + "/2");
		List<String> reversed = List.of(keys.get(1), keys.get(0));
		run("redis:" + redis.host() + ":" + redis.port(), (registry, store, cycle) -> {
			if (cycle % 100 == 0) {
				dieHolding(store, keys.get((cycle / 100) % 2), UUID.randomUUID().toString(), 1);
				return;
			}
			try (LockSet set = registry.acquireAll(this.exclusive, (cycle % 2 == 0) ? keys : reversed)) {
				assertThat(this.writers.incrementAndGet()).isOne();
				LockSupport.parkNanos(HOLD_NANOS);
				set.assertHeld();
				this.writers.decrementAndGet();
			}
		});
		assertThat(this.killed).as("ends of the leases of killed processes").isNotEmpty();
	}

	private void run(String address, Work work) {
		try (LockStore here = HolderProcess.store(address, this.settings.commandTimeout());
				LockStore there = HolderProcess.store(address, this.settings.commandTimeout());
				LeaseLockRegistry one = new LeaseLockRegistry(here, this.settings);
				LeaseLockRegistry two = new LeaseLockRegistry(there, this.settings)) {
			assumeThat(here.supportsMembers()).isTrue();
			Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
			List<CompletableFuture<Integer>> threads = IntStream.range(0, 8)
				.mapToObj((i) -> AbstractLeaseLockRegistryTests.inOtherThread(() -> {
					int done = 0;
					for (int cycle = this.cycles.incrementAndGet(); cycle <= CYCLES; cycle = this.cycles
						.incrementAndGet()) {
						try {
							work.run((i % 2 == 0) ? one : two, (i % 2 == 0) ? here : there, cycle);
						}
						catch (RuntimeException | Error ex) {
							failures.add(ex);
							throw ex;
						}
						done++;
					}
					return done;
				}))
				.toList();
			int done = threads.stream().mapToInt((thread) -> thread.exceptionally((ex) -> 0).join()).sum();
			// those behind the first may be due to it
			assertThat(failures.peek()).as("the first failure").isNull();
			assertThat(done).isEqualTo(CYCLES);
			// the lease of a killed process may end a little later in the store
			Awaitility.await().until(() -> one.find(this.exclusive.key()).isEmpty());
			Awaitility.await().until(() -> one.find("limit:" + this.exclusive.key()).isEmpty());
		}
	}

	/**
	 * One cycle of a thread.
	 */
	@FunctionalInterface
	private interface Work {

		void run(LeaseLockRegistry registry, LockStore store, int cycle);

	}

}
