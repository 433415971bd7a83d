package io.dlock.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.dlock.LockHandle;
import io.dlock.LockInfo;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.console.LocalLocks;
import io.dlock.console.LockConsole;
import io.dlock.console.LockKind;
import io.dlock.console.LockList;
import io.dlock.engine.lease.LockInfos;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoredLock;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The operator's view of a registry.
 */
class RegistryConsoleTests extends AbstractHandOffTests {

	private final LockConsole console = this.registry.console();

	private static LockRequest named(String key) {
		return LockRequest.builder(key).name("reports").reason("a report").waitTime(Duration.ofSeconds(40)).build();
	}

	private Instant now() {
		return Instant.ofEpochMilli(this.clock.wallMillis());
	}

	@Test
	void r55HeldLockIsShownWithHolderReasonAndTimes() throws Exception {
		Instant taken = now();
		LockHandle handle = this.registry.acquireAsync(named("key")).get();
		this.clock.pass(Duration.ofSeconds(1));
		assertThat(this.console.local().waiting()).isEmpty();
		assertThat(this.console.local().held()).singleElement().satisfies((held) -> {
			assertThat(held.key()).isEqualTo("key");
			assertThat(held.name()).isEqualTo("reports");
			assertThat(held.reason()).isEqualTo("a report");
			assertThat(held.thread()).isEqualTo(Thread.currentThread().getName());
			assertThat(held.since()).isEqualTo(taken);
			assertThat(held.until()).isEqualTo(taken.plus(LEASE).minusMillis(100 + 2));
			assertThat(held.token()).isEqualTo(handle.token());
			assertThat(held.waiting()).isZero();
			assertThat(held.age()).isEqualTo(Duration.ofSeconds(1));
		});
		handle.release();
		assertThat(this.console.local()).isEqualTo(new LocalLocks(List.of(), List.of()));
	}

	@Test
	void r55PassedOnLockIsShownWithItsToken() throws Exception {
		LockHandle first = this.registry.acquireAsync(request()).get();
		CompletableFuture<LockHandle> second = waiter(named("key"));
		first.release();
		LockHandle successor = second.get();
		assertThat(this.console.local().held()).singleElement().satisfies((held) -> {
			assertThat(held.token()).isEqualTo(first.token() + 1);
			assertThat(held.reason()).isEqualTo("a report");
		});
		successor.release();
	}

	@Test
	void r55WaitingRequestsAreShown() throws Exception {
		LockHandle handle = this.registry.acquireAsync(request()).get();
		Instant asked = now();
		CompletableFuture<LockHandle> limited = waiter(named("key"));
		this.clock.pass(Duration.ofSeconds(2));
		CompletableFuture<LockHandle> unlimited = waiter();
		List<LocalLocks.Waiting> waiting = this.console.local().waiting();
		assertThat(waiting).extracting(LocalLocks.Waiting::key).containsExactly("key", "key");
		assertThat(waiting.get(0)).isEqualTo(new LocalLocks.Waiting("key", LockKind.EXCLUSIVE, "reports", "a report",
				Thread.currentThread().getName(), asked, asked.plusSeconds(40)));
		assertThat(waiting.get(1).until()).as("unlimited").isNull();
		assertThat(this.console.local().held()).extracting(LocalLocks.Held::waiting).containsExactly(2);
		limited.cancel(true);
		unlimited.cancel(true);
		Awaitility.await().until(() -> this.console.local().waiting().isEmpty());
		handle.release();
	}

	@Test
	void lostLockIsNotShown() throws Exception {
		LockHandle handle = this.registry.acquireAsync(request()).get();
		this.clock.pass(LEASE);
		assertThat(this.console.local().held()).isEmpty();
		assertThat(handle.isValid()).isFalse();
	}

	@Test
	void r57KeysAreShownAsTheyAreStored() throws Exception {
		LockHandle handle = this.registry.acquireAsync(LockRequest.of("a b\n%")).get();
		assertThat(this.console.local().held()).extracting(LocalLocks.Held::key).containsExactly("a%20b%0A%25");
		assertThat(this.console.list(10).locks()).extracting(LockInfo::key).containsExactly("a%20b%0A%25");
		for (String shown : List.of("a b\n%", "a%20b%0A%25")) {
			assertThat(this.console.find(shown)).as(shown)
				.hasValueSatisfying((lock) -> assertThat(lock.token()).isEqualTo(handle.token()));
		}
		handle.release();
	}

	@Test
	void r55LocksOfTheStoreAreListedByKeyWithPublicTokens() throws Exception {
		LockHandle b = this.registry.acquireAsync(named("b")).get();
		this.store.memory.acquire(new AcquireCommand("a", "elsewhere", LEASE, "elsewhere [main]", ""));
		LockList list = this.console.list(10);
		assertThat(list.complete()).isTrue();
		assertThat(list.problem()).isNull();
		assertThat(list.locks()).extracting(LockInfo::key).containsExactly("a", "b");
		assertThat(list.locks().get(0).reason()).isNull();
		assertThat(list.locks().get(1)).satisfies((lock) -> {
			assertThat(lock.token()).isEqualTo(b.token());
			assertThat(lock.reason()).isEqualTo("a report");
		});
		assertThat(this.console.list(1)).satisfies((some) -> {
			assertThat(some.locks()).hasSize(1);
			assertThat(some.complete()).isFalse();
		});
		b.release();
	}

	@Test
	void lockOfAClockThatWasSetBackIsNotYoungerThanNow() {
		Instant since = now().plusSeconds(5);
		StoredLock stored = new StoredLock("key", "elsewhere [main]", "", since, since.plus(LEASE), 1,
				Duration.ofSeconds(-5), false);
		assertThat(LockInfos.of(stored).age()).isZero();
	}

	@Test
	void badInputIsRefused() {
		for (int limit : List.of(0, -1, 10_001, Integer.MAX_VALUE)) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.console.list(limit))
				.withMessageContaining("from 1 to 10000");
		}
		for (String key : List.of("", " ")) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.console.find(key));
			assertThatIllegalArgumentException().isThrownBy(() -> this.console.forceRelease(key, 1));
		}
	}

	@Test
	void storeFailureIsAProblemOfTheList() throws ExecutionException, InterruptedException {
		LockHandle handle = this.registry.acquireAsync(request()).get();
		this.store.down = true;
		assertThat(this.console.list(10)).isEqualTo(new LockList(List.of(), false, "connection refused"));
		assertThat(this.console.local().held()).hasSize(1);
		assertThatExceptionOfType(LockStoreException.class).isThrownBy(() -> this.console.find("key"))
			.withMessageContaining("look up");
		assertThatExceptionOfType(LockStoreException.class)
			.isThrownBy(() -> this.console.forceRelease("key", handle.token()))
			.withMessageContaining("release by force");
		assertThat(handle.isValid()).as("nothing is known").isTrue();
		this.store.down = false;
		handle.release();
	}

	/**
	 * Each list occupies one of the few connections of the locks.
	 */
	@Test
	void r55OnlyOneListIsMadeAtATime() throws Exception {
		CountDownLatch listing = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		this.store.beforeList = () -> {
			listing.countDown();
			awaitQuietly(end);
		};
		CompletableFuture<LockList> first = CompletableFuture.supplyAsync(() -> this.registry.console().list(10));
		listing.await();
		this.store.beforeList = () -> {
		};
		assertThat(this.registry.console().list(10).problem()).contains("Another list");
		Thread.currentThread().interrupt();
		assertThat(this.console.list(10).problem()).contains("Another list");
		assertThat(Thread.interrupted()).as("the flag is kept").isTrue();
		end.countDown();
		assertThat(first.get().problem()).isNull();
		this.store.beforeList = () -> {
			throw new IllegalStateException("a store with a bug");
		};
		assertThat(this.console.list(10).problem()).contains("a store with a bug");
		this.store.beforeList = () -> {
		};
		assertThat(this.console.list(10).problem()).isNull();
	}

	@Test
	void listWaitsForAnotherForACommandTimeout() throws Exception {
		CountDownLatch listing = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		this.store.beforeList = () -> {
			listing.countDown();
			awaitQuietly(end);
		};
		try (LeaseLockRegistry patient = new LeaseLockRegistry(this.store,
				LockSettings.builder().lease(Duration.ofHours(1)).commandTimeout(Duration.ofMinutes(1)).build())) {
			CompletableFuture<LockList> first = CompletableFuture.supplyAsync(() -> patient.console().list(10));
			listing.await();
			CompletableFuture<LockList> second = new CompletableFuture<>();
			Thread waiting = new Thread(() -> second.complete(patient.console().list(10)));
			waiting.start();
			Awaitility.await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING || second.isDone());
			end.countDown();
			assertThat(first).succeedsWithin(Patience.EVENTUALLY).extracting(LockList::problem).isNull();
			assertThat(second).succeedsWithin(Patience.EVENTUALLY).extracting(LockList::problem).isNull();
		}
		finally {
			end.countDown();
		}
	}

	private static void awaitQuietly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void storeWithoutInspectionIsReported() {
		this.store.hasNoInspection = true;
		this.store.memory.acquire(new AcquireCommand("key", "elsewhere", Duration.ofSeconds(1), "elsewhere", ""));
		assertThat(this.console.list(10).problem()).contains("cannot list");
		assertThat(this.console.find("key")).isPresent();
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> this.console.forceRelease("key", 1));
		assertThat(this.console.check()).satisfies((report) -> {
			assertThat(report.failure()).isNull();
			assertThat(report.server()).isNull();
		});
		this.store.memory.release("key", "elsewhere");
	}

}
