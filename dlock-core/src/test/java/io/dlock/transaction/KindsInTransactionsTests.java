package io.dlock.transaction;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.transaction.annotation.Transactional;

import io.dlock.DistributedLimit;
import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.OnLost;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.test.ForcedLoss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * R46, R47, R48 for methods with a shared lock or a limit.
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
