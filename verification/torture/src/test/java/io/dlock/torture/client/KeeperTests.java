package io.dlock.torture.client;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import io.dlock.store.Quarantine;
import io.dlock.torture.Keys;
import io.dlock.torture.history.Event;
import io.dlock.torture.history.HistoryHeader;
import io.dlock.torture.history.HistoryReader;
import io.dlock.torture.history.HistoryRecord;
import io.dlock.torture.history.HistoryWriter;
import io.dlock.torture.server.StoreType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link Keeper} and for the requests of {@link Workload} that do not wait.
 */
@Timeout(60)
class KeeperTests {

	private static final Duration LEASE = Duration.ofSeconds(1);

	private static final int KEPT = 32;

	@TempDir
	private Path directory;

	private final Locks locks = new Locks();

	@Test
	void locksAreKeptAndLockedAgainWhenTheyAreLost() throws InterruptedException {
		Path file = this.directory.resolve("history");
		AtomicBoolean stopped = new AtomicBoolean();
		try (HistoryWriter history = new HistoryWriter(file, new HistoryHeader(3, 0, 1, 1, 1, 1, true, true))) {
			Thread keeper = new Thread(new Keeper(options(), this.locks, history, new AtomicLong(), stopped));
			keeper.start();
			await().until(() -> this.locks.held.size() == KEPT);
			assertThat(this.locks.leases.values()).containsOnly(Duration.ofMillis(800), Duration.ofSeconds(1),
					Duration.ofSeconds(2), Duration.ofSeconds(4), Duration.ofSeconds(12), Duration.ofSeconds(30),
					Duration.ofMinutes(1));
			String lost = Keys.name(Keys.keptKey(7));
			Object before = this.locks.held.get(lost);
			this.locks.held.remove(lost);
			await().until(() -> this.locks.held.containsKey(lost) && this.locks.held.get(lost) != before);
			stopped.set(true);
			keeper.join();
		}
		assertThat(this.locks.held).isEmpty();
		List<HistoryRecord> records = HistoryReader.readAll(file);
		assertThat(records).filteredOn((entry) -> entry.event() == Event.GRANTED).hasSize(KEPT + 1);
		assertThat(records).filteredOn((entry) -> entry.event() == Event.FOUND_LOST)
			.singleElement()
			.matches((entry) -> entry.key() == Keys.keptKey(7));
	}

	@Test
	void noLeaseIsLongerThanAQuarantine() {
		Quarantine quarantine = new Quarantine(LEASE.multipliedBy(2), Duration.ZERO);
		try (HistoryWriter history = new HistoryWriter(this.directory.resolve("history"),
				new HistoryHeader(3, 0, 1, 1, 1, 1, true, true))) {
			AtomicBoolean stopped = new AtomicBoolean();
			Thread keeper = new Thread(new Keeper(options(quarantine), this.locks, history, new AtomicLong(), stopped));
			keeper.start();
			await().until(() -> this.locks.held.size() == KEPT);
			stopped.set(true);
			await().until(() -> !keeper.isAlive());
		}
		assertThat(this.locks.leases.values()).containsOnly(Duration.ofMillis(800), Duration.ofSeconds(1),
				Duration.ofSeconds(2));
	}

	@Test
	void triesDoNotWaitAndHaveKeysWithoutWaitingCalls() {
		Workload workload = new Workload(options(), 200, true);
		for (int i = 0; i < 100; i++) {
			Workload.Cycle tried = workload.nextTry();
			assertThat(Keys.isPolled(tried.key())).isTrue();
			assertThat(tried.call().waitTime()).isZero();
			assertThat(Keys.isPolled(workload.next().key())).isFalse();
		}
	}

	@Test
	void futuresWaitForAPartOfALease() {
		Workload workload = new Workload(options(), 100, true);
		for (int i = 0; i < 100; i++) {
			Workload.Cycle own = workload.nextFuture(100, true);
			assertThat(own.key()).isEqualTo(Keys.privateKey(3, 100));
			assertThat(own.call().waitTime()).isBetween(LEASE.dividedBy(4), LEASE.multipliedBy(3).dividedBy(4));
			assertThat(own.call().async()).isTrue();
			assertThat(Keys.isShared(workload.nextFuture(100, false).key())).isTrue();
		}
	}

	private static ClientOptions options() {
		return options(null);
	}

	private static ClientOptions options(@Nullable Quarantine quarantine) {
		return new ClientOptions(3, 0, 1, LEASE, LEASE, 1, 4, Duration.ZERO, Duration.ZERO, Path.of("none"), 0, 0, 0, 0,
				0, KEPT, false, 0, "fake",
				new StoreAddress(StoreType.REDIS, List.of(), "", new AtomicReference<>(""), "", quarantine, 0));
	}

	private static final class Locks implements Contender {

		private final Map<String, Object> held = new ConcurrentHashMap<>();

		private final Map<String, Duration> leases = new ConcurrentHashMap<>();

		@Override
		public CompletableFuture<Outcome> acquireAsync(LockCall call) {
			return CompletableFuture.supplyAsync(() -> acquire(call));
		}

		@Override
		public Outcome acquire(LockCall call) {
			Object lock = new Object();
			this.leases.put(call.key(), call.lease());
			this.held.put(call.key(), lock);
			return new Outcome.Granted(new Holding() {

				@Override
				public boolean isValid() {
					return Locks.this.held.get(call.key()) == lock;
				}

				@Override
				public Event release() {
					return Locks.this.held.remove(call.key(), lock) ? Event.RELEASED : Event.RELEASED_LOST;
				}

			});
		}

		@Override
		public Abilities abilities() {
			return new Abilities(false, true, false, true, 1, 1);
		}

		@Override
		public void close() {
		}

	}

}
