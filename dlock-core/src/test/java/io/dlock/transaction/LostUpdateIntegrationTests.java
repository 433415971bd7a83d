package io.dlock.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.dlock.LockBusyException;
import io.dlock.test.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * B34, B35, R46, R47: two instances count in one row.
 */
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LostUpdateIntegrationTests {

	private static final int THREADS = 6;

	private static final int ADDITIONS = 15;

	private static final int TOTAL = 2 * THREADS * ADDITIONS;

	private String id;

	private boolean rowGuard;

	static List<TestDatabase> databases() {
		return TransactionalInstance.databases();
	}

	@BeforeAll
	void createTables() {
		databases().forEach(TransactionalInstance::createTables);
	}

	private TransactionalInstance instance(TestDatabase database, InsideTransaction inside) {
		return new TransactionalInstance(database, Duration.ofSeconds(10), (instance, postProcessor) -> {
			postProcessor.setInsideTransaction(inside);
			if (this.rowGuard) {
				postProcessor.setCommitGuard(instance::rowGuard);
			}
		});
	}

	/**
	 * Let many threads of two instances add.
	 * @return what the counter says in the end
	 */
	private int race(TestDatabase database, InsideTransaction inside,
			BiConsumer<TransactionalInstance, String> addition) throws Exception {
		this.id = "counter/" + UUID.randomUUID();
		ExecutorService threads = Executors.newFixedThreadPool(2 * THREADS);
		try (TransactionalInstance first = instance(database, inside);
				TransactionalInstance second = instance(database, inside)) {
			first.create(this.id);
			List<Future<?>> futures = new ArrayList<>();
			for (int i = 0; i < 2 * THREADS; i++) {
				TransactionalInstance instance = (i % 2 == 0) ? first : second;
				futures.add(threads.submit(() -> {
					for (int j = 0; j < ADDITIONS; j++) {
						addition.accept(instance, this.id);
					}
				}));
			}
			for (Future<?> future : futures) {
				future.get();
			}
			return first.value(this.id);
		}
		finally {
			threads.shutdownNow();
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void r46LockAroundTheTransactionOfTheMethodLosesNothing(TestDatabase database) throws Exception {
		assertThat(race(database, InsideTransaction.FAIL,
				(instance, counter) -> instance.counter().addInItsOwnTransaction(counter)))
			.isEqualTo(TOTAL);
	}

	/**
	 * On PostgreSQL, the transaction that commits locks the row of each lock. On MariaDB
	 * it is REPEATABLE READ, and would find that a waiting caller has changed a row.
	 */
	@ParameterizedTest
	@MethodSource("databases")
	void r46LocksOfSeveralKeysAroundTheTransactionLoseNothing(TestDatabase database) throws Exception {
		this.rowGuard = database.platform().equals("postgresql");
		AtomicInteger calls = new AtomicInteger();
		String other = "counter/" + UUID.randomUUID();
		try (TransactionalInstance instance = instance(database, InsideTransaction.FAIL)) {
			instance.create(other);
			assertThat(race(database, InsideTransaction.FAIL, (each, counter) -> each.counter()
				.addToAll((calls.getAndIncrement() % 2 == 0) ? List.of(counter, other) : List.of(other, counter))))
				.isEqualTo(TOTAL);
			assertThat(instance.value(other)).isEqualTo(TOTAL);
		}
		finally {
			this.rowGuard = false;
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void b34LockInsideATransactionLosesNothingIfItIsKept(TestDatabase database) throws Exception {
		assertThat(race(database, InsideTransaction.DEFER,
				(instance, counter) -> instance.service().addInsideATransaction(counter)))
			.isEqualTo(TOTAL);
	}

	@ParameterizedTest
	@MethodSource("databases")
	void b34LockInsideATransactionLosesUpdatesIfItIsNotKept(TestDatabase database) throws Exception {
		assertThat(race(database, InsideTransaction.IGNORE,
				(instance, counter) -> instance.service().addInsideATransaction(counter)))
			.isLessThan(TOTAL);
	}

	@ParameterizedTest
	@MethodSource("databases")
	void r47StageInsideATransactionLosesNothingIfItsLockIsKept(TestDatabase database) throws Exception {
		assertThat(race(database, InsideTransaction.DEFER,
				(instance, counter) -> instance.service().addWhatWasReadByAStage(counter)))
			.isEqualTo(TOTAL);
	}

	@ParameterizedTest
	@MethodSource("databases")
	void b34LockOnAMethodWithANewTransactionLosesNothing(TestDatabase database) throws Exception {
		assertThat(race(database, InsideTransaction.IGNORE,
				(instance, counter) -> instance.service().addInANewTransaction(counter)))
			.isEqualTo(TOTAL);
	}

	@ParameterizedTest
	@MethodSource("databases")
	void b35AsyncMethodIsLockedAroundItsTransaction(TestDatabase database) throws Exception {
		assertThat(race(database, InsideTransaction.FAIL, (instance, counter) -> {
			CountDownLatch done = new CountDownLatch(1);
			instance.counter().addLater(counter, done);
			await(done);
		})).isEqualTo(TOTAL);
	}

	/**
	 * The second reads after the first has returned and before it commits.
	 */
	@ParameterizedTest
	@MethodSource("databases")
	void b34OneUpdateIsLostBetweenTheReleaseAndTheCommit(TestDatabase database) throws Exception {
		assertThat(interleaved(database, InsideTransaction.IGNORE)).as("two additions").isOne();
	}

	private int interleaved(TestDatabase database, InsideTransaction inside) throws Exception {
		this.id = "counter/" + UUID.randomUUID();
		CountDownLatch returned = new CountDownLatch(1);
		CountDownLatch read = new CountDownLatch(1);
		// the common pool may have a single thread
		ExecutorService callers = Executors.newFixedThreadPool(2);
		try (TransactionalInstance first = instance(database, inside);
				TransactionalInstance second = instance(database, inside)) {
			first.create(this.id);
			CompletableFuture<Void> one = CompletableFuture.runAsync(() -> first.service().inTransaction((counter) -> {
				counter.addLocked(this.id, () -> {
				});
				returned.countDown();
				await(read);
			}), callers);
			await(returned);
			CompletableFuture<Void> two = CompletableFuture.runAsync(
					() -> second.service().inTransaction((counter) -> counter.addLocked(this.id, read::countDown)),
					callers);
			CompletableFuture.allOf(one, two).get();
			return first.value(this.id);
		}
		finally {
			callers.shutdown();
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void b34NoReadComesBetweenTheReturnAndTheEndOfTheTransaction(TestDatabase database) {
		this.id = "counter/" + UUID.randomUUID();
		try (TransactionalInstance first = instance(database, InsideTransaction.DEFER);
				TransactionalInstance second = instance(database, InsideTransaction.DEFER)) {
			first.create(this.id);
			first.service().inTransaction((counter) -> {
				counter.addLocked(this.id, () -> {
				});
				assertThatExceptionOfType(LockBusyException.class)
					.isThrownBy(() -> second.counter().addUnlessBusy(this.id));
			});
			second.counter().addUnlessBusy(this.id);
			assertThat(first.value(this.id)).isEqualTo(2);
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> first.service().inTransaction((counter) -> {
					counter.addLocked(this.id, () -> {
					});
					assertThatExceptionOfType(LockBusyException.class)
						.isThrownBy(() -> second.counter().addUnlessBusy(this.id));
					throw new IllegalStateException("roll back");
				}));
			second.counter().addUnlessBusy(this.id);
			assertThat(first.value(this.id)).isEqualTo(3);
		}
	}

	/**
	 * A lock does not help against REPEATABLE READ, the default of MySQL and MariaDB,
	 * which goes on to show the state at the first read. The warning names it.
	 */
	@ParameterizedTest
	@MethodSource("databases")
	void snapshotThatIsOlderThanTheLockIsStale(TestDatabase database) {
		this.id = "counter/" + UUID.randomUUID();
		try (TransactionalInstance first = instance(database, InsideTransaction.DEFER);
				TransactionalInstance second = instance(database, InsideTransaction.DEFER)) {
			first.create(this.id);
			first.service().inTransaction((counter) -> {
				assertThat(counter.read(this.id)).isZero();
				CompletableFuture.runAsync(() -> second.counter().addInItsOwnTransaction(this.id)).join();
				counter.addLocked(this.id, () -> {
				});
			});
			assertThat(first.value(this.id)).isEqualTo(database.platform().equals("mysql") ? 1 : 2);
		}
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
