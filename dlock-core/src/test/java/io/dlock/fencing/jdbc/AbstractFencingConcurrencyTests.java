package io.dlock.fencing.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.fencing.StaleTokenException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Holders that write at the same time.
 */
abstract class AbstractFencingConcurrencyTests extends AbstractFencingTokenTests {

	/**
	 * The row is locked by the check: no other transaction writes between it and the
	 * commit.
	 */
	@Test
	void laterHolderWaitsUntilTheEarlierOneHasCommitted() throws Exception {
		check(TOKEN);
		CompletableFuture<Void> later = this.transaction.execute((status) -> {
			this.guard.check(this.resource, TOKEN + 1);
			CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> check(TOKEN + 2));
			awaitBlocked(waiting);
			return waiting;
		});
		later.get();
		refused(TOKEN + 1, TOKEN + 2);
	}

	@Test
	void staleHolderWaitsAndIsRefusedOnceTheLaterOneHasCommitted() {
		check(TOKEN);
		CompletableFuture<Throwable> stale = this.transaction.execute((status) -> {
			this.guard.check(this.resource, TOKEN + 2);
			CompletableFuture<Throwable> waiting = CompletableFuture
				.supplyAsync(() -> catchThrowable(() -> check(TOKEN + 1)));
			awaitBlocked(waiting);
			return waiting;
		});
		assertThat(stale.join()).isInstanceOf(StaleTokenException.class);
	}

	@Test
	void staleHolderThatWaitsMayWriteIfTheLaterOneRollsBack() throws Exception {
		check(TOKEN);
		CompletableFuture<Void> stale = this.transaction.execute((status) -> {
			this.guard.check(this.resource, TOKEN + 2);
			CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> check(TOKEN + 1));
			awaitBlocked(waiting);
			status.setRollbackOnly();
			return waiting;
		});
		stale.get();
		refused(TOKEN, TOKEN + 1);
	}

	private static void awaitBlocked(CompletableFuture<?> waiting) {
		Awaitility.await().during(Duration.ofMillis(300)).atMost(Duration.ofSeconds(5)).until(() -> !waiting.isDone());
	}

	/**
	 * The first statement of the transaction has taken the snapshot: the successor's
	 * commit is not in it.
	 */
	@ParameterizedTest
	@ValueSource(ints = { TransactionDefinition.ISOLATION_READ_COMMITTED,
			TransactionDefinition.ISOLATION_REPEATABLE_READ, TransactionDefinition.ISOLATION_SERIALIZABLE })
	void staleTokenIsRefusedHoweverOldTheSnapshotIs(int isolation) {
		check(TOKEN);
		TransactionTemplate isolated = new TransactionTemplate(this.transaction.getTransactionManager());
		isolated.setIsolationLevel(isolation);
		boolean blocking = this.database.platform().equals("mysql")
				&& isolation == TransactionDefinition.ISOLATION_SERIALIZABLE;
		Throwable failure = catchThrowable(() -> isolated.executeWithoutResult((status) -> {
			this.jdbc.sql("SELECT COUNT(*) FROM " + (blocking ? "fenced_data" : "dlock_fence"))
				.query(Long.class)
				.single();
			CompletableFuture.runAsync(() -> check(TOKEN + 1)).join();
			this.guard.check(this.resource, TOKEN);
		}));
		assertThat(failure).isInstanceOfAny(StaleTokenException.class, ConcurrencyFailureException.class);
		check(TOKEN + 1);
	}

	/**
	 * First checks of a resource collide; whatever comes out of that, the writes are in
	 * the order of the tokens.
	 */
	@Test
	void i2WritesOfConcurrentHoldersAreInTheOrderOfTheirTokens() throws Exception {
		int writers = 8;
		int accepted = 0;
		ExecutorService threads = Executors.newFixedThreadPool(writers);
		try {
			for (int round = 0; round < 60; round++) {
				String id = this.resource + "/" + round;
				this.jdbc.sql("INSERT INTO fenced_data (id, fence) VALUES (?, 0)").param(id).update();
				CyclicBarrier barrier = new CyclicBarrier(writers);
				List<Future<Boolean>> writes = new ArrayList<>();
				LongStream.rangeClosed(1, writers).forEach((token) -> writes.add(threads.submit(() -> {
					barrier.await();
					return write(id, TOKEN + token);
				})));
				boolean newest = false;
				for (Future<Boolean> write : writes) {
					newest = write.get();
					accepted += newest ? 1 : 0;
				}
				assertThat(newest).as("the newest is never refused").isTrue();
				assertThat(fenceOfData(id)).isEqualTo(TOKEN + writers);
			}
		}
		finally {
			threads.shutdown();
		}
		assertThat(accepted).isGreaterThanOrEqualTo(60);
	}

	private boolean write(String id, long token) {
		while (true) {
			try {
				this.transaction.executeWithoutResult((status) -> {
					this.guard.check(id, token);
					assertThat(fenceOfData(id)).as("what is overwritten").isLessThan(token);
					this.jdbc.sql("UPDATE fenced_data SET fence = ? WHERE id = ?").param(token).param(id).update();
				});
				return true;
			}
			catch (StaleTokenException ex) {
				return false;
			}
			catch (ConcurrencyFailureException ex) {
				// a deadlock, which the database ended by a rollback: again
			}
		}
	}

	private long fenceOfData(String id) {
		return this.jdbc.sql("SELECT fence FROM fenced_data WHERE id = ?").param(id).query(Long.class).single();
	}

	/**
	 * The way without a guard, as documented.
	 */
	@Test
	void tokenBesideTheDataRefusesAStaleWriteAsWell() {
		this.jdbc.sql("INSERT INTO fenced_data (id, fence) VALUES (?, 0)").param(this.resource).update();
		assertThat(updateBeside(TOKEN)).isEqualTo(1);
		assertThat(updateBeside(TOKEN + 1)).isEqualTo(1);
		assertThat(updateBeside(TOKEN)).isZero();
		assertThat(fenceOfData(this.resource)).isEqualTo(TOKEN + 1);
	}

	private int updateBeside(long token) {
		return this.jdbc.sql("UPDATE fenced_data SET fence = :token WHERE id = :id AND fence <= :token")
			.param("token", token)
			.param("id", this.resource)
			.update();
	}

}
