package io.dlock.transaction;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.dlock.LockBusyException;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.test.TestDatabase;
import io.dlock.transaction.CommitterProcess.Place;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * R48: an instance is frozen (SIGSTOP) between the check of its lock and its commit, for
 * longer than its lease.
 */
@Timeout(180)
class FrozenCommitIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(5);

	private final String id = "counter/" + UUID.randomUUID();

	static List<TestDatabase> databases() {
		return TransactionalInstance.databases();
	}

	@BeforeAll
	static void createTables() {
		databases().forEach(TransactionalInstance::createTables);
	}

	private TransactionalInstance instance(TestDatabase database) {
		return new TransactionalInstance(database, LEASE, (postProcessor) -> {
		});
	}

	private CompletableFuture<Void> addOne(TransactionalInstance instance, CountDownLatch read) {
		return CompletableFuture.runAsync(() -> instance.counter().addLocked(this.id, read::countDown));
	}

	@ParameterizedTest
	@MethodSource("databases")
	void withoutRowGuardFrozenHolderCommitsAfterSuccessorHasRead(TestDatabase database) throws Exception {
		try (TransactionalInstance successor = instance(database)) {
			successor.create(this.id);
			try (CommitterProcess frozen = CommitterProcess.start(database, LEASE, this.id, Place.VALIDITY_CHECKED)) {
				frozen.await("WAITING");
				frozen.freeze();
				CountDownLatch read = new CountDownLatch(1);
				CompletableFuture<Void> addition = addOne(successor, read);
				assertThat(read.await(60, TimeUnit.SECONDS)).as("it is granted the lock").isTrue();
				frozen.goOn();
				assertThat(frozen.await("FAILED")).as("the loss is noticed, after the commit").contains("was lost");
				addition.get();
			}
			assertThat(successor.value(this.id)).as("two additions were committed, one is lost").isOne();
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void rowGuardKeepsFrozenHolderFromCommittingAfterSuccessor(TestDatabase database) throws Exception {
		try (TransactionalInstance successor = instance(database)) {
			successor.create(this.id);
			try (CommitterProcess frozen = CommitterProcess.start(database, LEASE, this.id,
					Place.VALIDITY_CHECKED_ROW_NOT_LOCKED)) {
				frozen.await("WAITING");
				frozen.freeze();
				CountDownLatch read = new CountDownLatch(1);
				CompletableFuture<Void> addition = addOne(successor, read);
				assertThat(read.await(60, TimeUnit.SECONDS)).as("it is granted the lock").isTrue();
				frozen.goOn();
				assertThat(frozen.await("FAILED")).contains("its row is not its own");
				addition.get();
			}
			assertThat(successor.value(this.id)).as("one addition was committed, the other rolled back").isOne();
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void rowGuardDelaysGrantsUntilFrozenHolderHasCommitted(TestDatabase database) throws Exception {
		try (TransactionalInstance successor = instance(database)) {
			successor.create(this.id);
			try (CommitterProcess frozen = CommitterProcess.start(database, LEASE, this.id, Place.ROW_LOCKED)) {
				frozen.await("WAITING");
				frozen.freeze();
				LockRequest request = LockRequest.builder(this.id).waitTime(LEASE.multipliedBy(2)).build();
				assertThatExceptionOfType(RuntimeException.class)
					.isThrownBy(() -> successor.registry().acquire(request))
					.isInstanceOfAny(LockStoreException.class, LockBusyException.class);
				assertThat(successor.value(this.id)).isZero();
				frozen.goOn();
				frozen.await("FAILED");
				successor.counter().addInItsOwnTransaction(this.id);
			}
			assertThat(successor.value(this.id)).as("nothing is lost").isEqualTo(2);
		}
	}

}
