package io.dlock.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.TransactionalOperator;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.OnLost;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.Waiting;
import io.dlock.test.ForcedLoss;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * R46, R47, R48 for methods with a shared lock, a fair lock or a limit.
 */
@Timeout(60)
class KindsInTransactionsTests extends AbstractTransactionTests {

	static class Kinds {

		@DistributedLocked(key = "'counter'", mode = LockMode.SHARED)
		public void read() {
		}

		@DistributedLocked(key = "'counter'", mode = LockMode.SHARED)
		public CompletableFuture<Void> readLater() {
			return CompletableFuture.completedFuture(null);
		}

		@DistributedLocked(key = "'counter'", mode = LockMode.SHARED)
		public Mono<String> readReactively() {
			return Mono.just("done");
		}

		@DistributedLocked("'counter'")
		public void write() {
		}

		@DistributedLocked("'counter'")
		public CompletableFuture<Void> changeLater(Runnable body) {
			body.run();
			return CompletableFuture.completedFuture(null);
		}

		@DistributedLocked(key = "'counter'", reentrant = false, waitTime = "10ms")
		public void writeOnce() {
		}

		@DistributedLimit(name = "counter", limit = "1")
		public void limited() {
		}

		@DistributedLimit(name = "counter", limit = "1", waitTime = "20s")
		public CompletableFuture<Void> limitedLater() {
			return CompletableFuture.completedFuture(null);
		}

		@DistributedLimit(name = "counter", limit = "1")
		public Mono<String> limitedReactively() {
			return Mono.just("done");
		}

		@DistributedLocked(key = "'counter'", fair = true)
		public void pass() {
		}

		@DistributedLocked(key = "'counter'", waitTime = "20s", fair = true)
		public CompletableFuture<String> passLater(CompletableFuture<String> body) {
			return body;
		}

		@DistributedLimit(name = "counter", limit = "1")
		@Transactional
		public void losing(Runnable body) {
			body.run();
		}

		@DistributedLimit(name = "counter", limit = "1", onLost = OnLost.IGNORE)
		@Transactional
		public void losingCarelessly(Runnable body) {
			body.run();
		}

	}

	private Kinds kinds;

	@BeforeEach
	void register() {
		this.context.registerBean(Kinds.class);
	}

	private void startWith(InsideTransaction inside) {
		start((postProcessor) -> postProcessor.setInsideTransaction(inside));
		this.kinds = this.context.getBean(Kinds.class);
	}

	/**
	 * Whether another process gets the lock.
	 */
	private boolean isOpenTo(LockMode mode) {
		LeaseLockRegistry other = new LeaseLockRegistry(this.store, this.registry.settings());
		try {
			LockRequest request = LockRequest.builder(KEY).mode(mode).waitTime(Duration.ZERO).build();
			Optional<LockHandle> handle = other.tryAcquire(request);
			handle.ifPresent(LockHandle::release);
			return handle.isPresent();
		}
		finally {
			other.close();
		}
	}

	private void inReactiveTransaction(Mono<?> body) {
		TransactionalOperator.create(new LeftReactiveTransactionTests.Manager())
			.transactional(body)
			.block(Patience.EVENTUALLY);
	}

	private void isShared() {
		assertThat(isOpenTo(LockMode.EXCLUSIVE)).isFalse();
		assertThat(isOpenTo(LockMode.SHARED)).isTrue();
	}

	@Test
	void r47SharedLockIsKeptUntilTheCommit() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.kinds.read();
			isShared();
			this.kinds.read();
		});
		nothingIsLeft();
		inTransaction(() -> {
			this.kinds.readLater().join();
			isShared();
			this.kinds.read();
		});
		nothingIsLeft();
	}

	@Test
	void r47SharedLockIsKeptUntilTheReactiveCommit() {
		startWith(InsideTransaction.DEFER);
		Mono<?> read = this.kinds.readReactively().then(Mono.fromRunnable(this::isShared));
		inReactiveTransaction(read.then(read));
		nothingIsLeft();
		assertThat(warnings()).singleElement().asString().contains("Kinds.readReactively");
	}

	@Test
	void r48LossOfASharedLockRollsTheReactiveTransactionBack() {
		startWith(InsideTransaction.DEFER);
		Mono<?> lost = this.kinds.readReactively().doOnNext((done) -> ForcedLoss.of(this.registry, KEY));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inReactiveTransaction(lost))
			.withMessageContaining("is rolled back");
		nothingIsLeft();
	}

	@Test
	void sharedLockInsideAReactiveTransactionIsRefused() {
		startWith(InsideTransaction.FAIL);
		assertThatExceptionOfType(IllegalTransactionStateException.class)
			.isThrownBy(() -> inReactiveTransaction(this.kinds.readReactively()))
			.withMessageContaining("Kinds.readReactively");
		nothingIsLeft();
	}

	@ParameterizedTest
	@EnumSource(InsideTransaction.class)
	void permitIsGivenBackBeforeTheReactiveTransactionEnds(InsideTransaction inside) {
		startWith(inside);
		Mono<?> limited = this.kinds.limitedReactively()
			.then(Mono
				.fromRunnable(() -> assertThat(this.store.inspection().list(10).locks()).as("permits held").isEmpty()));
		inReactiveTransaction(limited.then(limited));
		assertThat(warnings()).isEmpty();
	}

	@Test
	void r47FairLockIsKeptUntilTheCommitAndThenGoesToTheNext() {
		startWith(InsideTransaction.DEFER);
		try (LeaseLockRegistry other = new LeaseLockRegistry(this.store, this.registry.settings())) {
			LockRequest fair = LockRequest.builder(KEY).fair(true).waitTime(LockRequest.FOREVER).build();
			List<CompletableFuture<LockHandle>> next = new ArrayList<>();
			inTransaction(() -> {
				this.kinds.pass();
				next.add(other.acquireAsync(fair));
				Awaitility.await().until(() -> Waiting.processes(this.store, KEY) == 1);
				this.kinds.pass();
				this.kinds.passLater(CompletableFuture.completedFuture("done")).join();
				assertThat(next.get(0)).isNotDone();
			});
			next.get(0).join().release();
		}
		nothingIsLeft();
	}

	/**
	 * The second one waits in the queue of the store, as without a transaction, and
	 * leaves it when it shares the lock of the first.
	 */
	@Test
	void r47FairStagesOfATransactionRunOneAfterTheOther() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			CompletableFuture<String> body = new CompletableFuture<>();
			CompletableFuture<String> first = this.kinds.passLater(body);
			Awaitility.await().until(this::isHeld);
			CompletableFuture<String> second = this.kinds.passLater(CompletableFuture.completedFuture("second"));
			Awaitility.await().until(() -> Waiting.processes(this.store, KEY) == 1);
			body.complete("first");
			assertThat(first).succeedsWithin(Patience.EVENTUALLY).isEqualTo("first");
			assertThat(second).succeedsWithin(Patience.EVENTUALLY).isEqualTo("second");
			Awaitility.await().until(() -> Waiting.processes(this.store, KEY) == 0);
			assertThat(isHeld()).isTrue();
		});
		nothingIsLeft();
	}

	@Test
	void methodThatIsNotReentrantIsBusyUntilItsTransactionEnds() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.kinds.writeOnce();
			assertThatExceptionOfType(LockBusyException.class).isThrownBy(() -> this.kinds.writeOnce());
		});
		this.kinds.writeOnce();
		nothingIsLeft();
	}

	@Test
	void keptSharedLockCannotBeUpgraded() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.kinds.read();
			assertThatIllegalStateException().isThrownBy(() -> this.kinds.write())
				.withMessageContaining("cannot be upgraded");
			isShared();
		});
		inTransaction(() -> {
			this.kinds.write();
			this.kinds.read();
			assertThat(isOpenTo(LockMode.SHARED)).isFalse();
		});
		nothingIsLeft();
	}

	@Test
	void lockThatATransactionKeepsCannotBeDowngraded() {
		startWith(InsideTransaction.DEFER);
		Work work = this.context.getBean(Work.class);
		inTransaction(() -> {
			work.run(this::isNotDowngraded);
			isNotDowngraded();
		});
		nothingIsLeft();
		inTransaction(() -> this.kinds.changeLater(this::isNotDowngraded).join());
		nothingIsLeft();
		work.run(() -> inTransaction(() -> {
			try (LockHandle reading = LockHandle.current().orElseThrow().downgrade()) {
				assertThat(reading.isValid()).isTrue();
			}
		}));
		nothingIsLeft();
	}

	private void isNotDowngraded() {
		LockHandle handle = LockHandle.current().orElseThrow();
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(handle::downgrade)
			.withMessageContaining("Begin the transaction inside the lock");
		assertThat(handle.isValid()).isTrue();
		assertThat(isOpenTo(LockMode.SHARED)).isFalse();
	}

	@Test
	void permitIsGivenBackBeforeTheTransactionOfTheCallerEnds() {
		startWith(InsideTransaction.DEFER);
		inTransaction(() -> {
			this.kinds.limited();
			this.kinds.limited();
			this.kinds.limitedLater().join();
			this.kinds.limitedLater().join();
			assertThat(this.store.inspection().list(10).locks()).isEmpty();
		});
		assertThat(warnings()).isEmpty();
	}

	@Test
	void limitedMethodMayBeCalledInAnyTransaction() {
		startWith(InsideTransaction.FAIL);
		inTransaction(() -> {
			this.kinds.limited();
			this.kinds.limitedLater().join();
		});
		assertThat(warnings()).isEmpty();
	}

	@Test
	void lossOfThePermitRollsTheTransactionOfTheMethodBack() {
		startWith(InsideTransaction.DEFER);
		Runnable insertAndLose = () -> {
			insert();
			ForcedLoss.ofCurrent(this.registry);
		};
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.kinds.losing(insertAndLose));
		assertThat(entries()).isZero();
		this.kinds.losingCarelessly(insertAndLose);
		assertThat(entries()).isOne();
	}

}
