package io.dlock.transaction;

import java.lang.reflect.Field;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.OnLost;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * R47: a lock that is taken inside a transaction outlasts it.
 */
public class TransactionBoundLockTests extends AbstractTransactionTests {

	static class RenewedWork {

		@DistributedLocked(key = "'counter'", lease = "5s")
		public void runRenewed(Runnable body) {
			body.run();
		}

	}

	static class InterruptedWork {

		@DistributedLocked(key = "'counter'", onLost = OnLost.INTERRUPT)
		public void runInterruptibly(Runnable body) {
			body.run();
		}

	}

	public TransactionBoundLockTests() {
		super(Duration.ofMillis(50));
	}

	@Test
	void r47LockTakenInsideATransactionIsReleasedAfterTheCommit() {
		Work work = start();
		List<String> seen = new ArrayList<>();
		inTransaction(() -> {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					seen.add("committed, held " + isHeld());
				}

				@Override
				public void afterCompletion(int status) {
					seen.add("completed, held " + isHeld());
				}

			});
			work.run(this::insert);
			seen.add("returned, held " + isHeld());
		});
		assertThat(seen).containsExactly("returned, held true", "committed, held true", "completed, held true");
		assertThat(entries()).isOne();
		nothingIsLeft();
	}

	/**
	 * Its token would be that of the writes of the outer method.
	 */
	@Test
	void r47LockThatIsOnlyKeptIsNotTheCurrentOneOfTheMethodThatGoesOn() {
		Work work = start();
		work.outer(() -> inTransaction(() -> {
			work.run(this::insert);
			assertThat(LockHandle.current()).map(LockHandle::key).contains("outer");
			work.other(() -> assertThat(LockHandle.current()).map(LockHandle::key).contains("counter"));
			assertThat(LockHandle.current()).map(LockHandle::key).contains("outer");
			inNewTransaction(() -> assertThat(LockHandle.current()).map(LockHandle::key).contains("outer"));
			assertThat(isHeld()).isTrue();
		}));
		nothingIsLeft();
	}

	@Test
	void r47LockTakenInsideATransactionIsReleasedAfterTheRollback() {
		Work work = start();
		transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> {
			assertThatIllegalStateException().isThrownBy(() -> work.run(() -> {
				insert();
				throw new IllegalStateException("the body fails, but the transaction goes on");
			}));
			assertThat(isHeld()).isTrue();
			status.setRollbackOnly();
		});
		assertThat(entries()).isZero();
		nothingIsLeft();
	}

	@Test
	void r47LockTakenInsideATransactionIsReleasedAfterACommitOfUnknownOutcome() {
		Work work = start();
		this.failingCommit = true;
		assertThatExceptionOfType(TransactionSystemException.class)
			.isThrownBy(() -> inTransaction(() -> work.run(this::insert)));
		nothingIsLeft();
	}

	private Instant end() {
		return this.store.find("counter").orElseThrow().until();
	}

	@Test
	void r47LockTakenInsideATransactionIsRenewedUntilItsEnd() {
		this.context.registerBean(RenewedWork.class);
		start();
		RenewedWork work = this.context.getBean(RenewedWork.class);
		inTransaction(() -> {
			work.runRenewed(this::insert);
			Instant end = end();
			Awaitility.await().until(() -> end().isAfter(end.plusSeconds(1)));
			assertThat(LockHandle.current()).hasValueSatisfying((handle) -> assertThat(handle.isValid()).isTrue());
		});
		assertThat(entries()).isOne();
		nothingIsLeft();
	}

	@Test
	void r47MethodInsideATransactionIsInterruptedWhenItsLockIsLost() {
		this.context.registerBean(InterruptedWork.class);
		start();
		InterruptedWork work = this.context.getBean(InterruptedWork.class);
		List<String> seen = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(() -> {
			insert();
			work.runInterruptibly(() -> {
				loseLock();
				assertThatExceptionOfType(InterruptedException.class)
					.isThrownBy(() -> new CountDownLatch(1).await(Patience.EVENTUALLY.toSeconds(), TimeUnit.SECONDS));
				seen.add("interrupted");
			});
		}));
		assertThat(seen).containsExactly("interrupted");
		assertThat(Thread.interrupted()).isFalse();
		assertThat(entries()).isZero();
		nothingIsLeft();
	}

	@Test
	void r47InnerTransactionEndsTheLocksThatWereTakenInIt() {
		Work work = start();
		inTransaction(() -> {
			inNewTransaction(() -> {
				work.run(this::insert);
				assertThat(isHeld()).isTrue();
			});
			assertThat(isHeld()).as("the outer transaction has nothing to do with it").isFalse();
		});
		nothingIsLeft();
	}

	@Test
	void r47LockOfASuspendedTransactionIsKept() {
		Work work = start();
		inTransaction(() -> {
			work.run(this::insert);
			inNewTransaction(this::insert);
			assertThat(isHeld()).isTrue();
			transaction(TransactionDefinition.PROPAGATION_NOT_SUPPORTED)
				.executeWithoutResult((status) -> assertThat(isHeld()).isTrue());
			assertThat(isHeld()).isTrue();
		});
		assertThat(entries()).isEqualTo(2);
		nothingIsLeft();
	}

	@Test
	void r47LockTakenInASavepointIsKeptUntilTheEndOfTheWholeTransaction() {
		Work work = start();
		inTransaction(() -> {
			transaction(TransactionDefinition.PROPAGATION_NESTED)
				.executeWithoutResult((status) -> work.run(this::insert));
			assertThat(isHeld()).isTrue();
			transaction(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((status) -> {
				work.run(this::insert);
				status.setRollbackOnly();
			});
			assertThat(isHeld()).isTrue();
		});
		assertThat(entries()).isOne();
		nothingIsLeft();
	}

	@Test
	void r47LockIsTakenAgainInTheSameTransaction() {
		Work work = start();
		List<Long> tokens = new ArrayList<>();
		inTransaction(() -> {
			for (int i = 0; i < 3; i++) {
				work.run(() -> tokens.add(LockHandle.current().orElseThrow().token()));
			}
		});
		assertThat(tokens).hasSize(3).containsOnly(tokens.get(0));
		nothingIsLeft();
	}

	@Test
	void r47LockIsKeptUntilTheMethodReturnsIfItEndsTheTransactionItself() {
		Work work = start();
		var status = this.transactions.getTransaction(TransactionDefinition.withDefaults());
		work.run(() -> {
			this.transactions.commit(status);
			assertThat(isHeld()).isTrue();
		});
		nothingIsLeft();
	}

	@Test
	void lockIsNotKeptWithoutActualTransaction() {
		Work work = start();
		transaction(TransactionDefinition.PROPAGATION_SUPPORTS).executeWithoutResult((status) -> {
			assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isTrue();
			work.run(() -> assertThat(isHeld()).isTrue());
			nothingIsLeft();
		});
		assertThat(warnings()).isEmpty();
	}

	@Test
	void lockThatTheMethodReleasesItselfIsNoError() {
		Work work = start();
		inTransaction(() -> {
			work.run(() -> LockHandle.current().orElseThrow().release());
			insert();
		});
		assertThat(entries()).isOne();
		nothingIsLeft();
	}

	@Test
	void ignoredLossDuringTheCommitIsNotLogged() {
		Work work = start();
		for (Runnable call : List.<Runnable>of(() -> work.run(this::insert), () -> work.runCarelessly(this::insert))) {
			this.duringCommit = this::loseLock;
			inTransaction(call);
			nothingIsLeft();
		}
		assertThat(warnings().stream().filter((warning) -> warning.contains("during the commit"))).hasSize(1);
	}

	@Test
	void warnsOncePerMethod() {
		Work work = start();
		for (int i = 0; i < 3; i++) {
			inTransaction(() -> work.run(() -> {
			}));
		}
		inTransaction(() -> work.other(() -> {
		}));
		assertThat(warnings()).hasSize(2)
			.allSatisfy((warning) -> assertThat(warning).contains(Work.class.getName(), "dlock.transaction.inside"));
	}

	@Test
	void noWarningForTransactionBegunInsideLock() {
		Work work = start();
		work.run(() -> inTransaction(() -> work.other(this::insert)));
		work.runInTransaction(this::insert);
		assertThat(warnings()).isEmpty();
		assertThat(entries()).isEqualTo(2);
		nothingIsLeft();
	}

	// the other ways

	@Test
	void failRefusesTheCallBeforeTheLockIsTaken() {
		Work work = start((postProcessor) -> postProcessor.setInsideTransaction(InsideTransaction.FAIL));
		List<String> seen = new ArrayList<>();
		inTransaction(() -> {
			assertThatExceptionOfType(IllegalTransactionStateException.class)
				.isThrownBy(() -> work.run(() -> seen.add("ran")))
				.withMessageContaining(Work.class.getName() + ".run")
				.withMessageContaining("before the transaction begins");
			assertThat(isHeld()).isFalse();
		});
		assertThat(seen).isEmpty();
		work.runInTransaction(this::insert);
		work.run(() -> inTransaction(() -> work.other(this::insert)));
		assertThat(entries()).as("what began inside the lock").isEqualTo(2);
		nothingIsLeft();
	}

	@Test
	void ignoreReleasesTheLockBeforeTheTransactionEnds() {
		Work work = start((postProcessor) -> postProcessor.setInsideTransaction(InsideTransaction.IGNORE));
		inTransaction(() -> {
			work.run(this::insert);
			nothingIsLeft();
		});
		assertThat(warnings()).isEmpty();
	}

	@Test
	void registryBehavesAlikeInsideTransaction() {
		start();
		inTransaction(() -> {
			this.registry.execute(LockRequest.of(KEY), (handle) -> isHeld());
			nothingIsLeft();
		});
	}

	@Test
	void transactionManagerWithoutSynchronizationIsRefused() {
		this.transactions.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		Work work = start();
		inTransaction(() -> {
			assertThatExceptionOfType(IllegalTransactionStateException.class).isThrownBy(() -> work.run(this::insert))
				.withMessageContaining("no transaction synchronization");
			nothingIsLeft();
		});
		work.run(() -> inTransaction(() -> work.other(this::insert)));
		work.runInTransaction(this::insert);
		assertThat(entries()).isEqualTo(2);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> work.other(() -> inTransaction(() -> {
			insert();
			loseLock();
		}))).withMessageContaining("is rolled back");
		assertThat(entries()).isEqualTo(2);
		nothingIsLeft();
	}

	@Test
	void transactionWithoutSynchronizationLeavesNothingOnItsThread() throws Exception {
		this.transactions.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		start();
		inTransaction(this::insert);
		assertThatIllegalStateException().isThrownBy(() -> inTransaction(() -> {
			throw new IllegalStateException("roll back");
		}));
		Field begun = UnsynchronizedTransactionListener.class.getDeclaredField("BEGUN");
		begun.setAccessible(true);
		assertThat(((ThreadLocal<?>) begun.get(null)).get()).isNull();
	}

	@Test
	void lockIsNotKeptIfSynchronizationCannotBeRegistered() {
		Work work = start();
		TurboFilter broken = new TurboFilter() {

			@Override
			public FilterReply decide(Marker marker, Logger logger, Level level, String format, Object[] parameters,
					Throwable failure) {
				if (level == Level.WARN && logger.getName().equals(SpringTransactionIntegration.class.getName())) {
					throw new IllegalStateException("no space left on the device");
				}
				return FilterReply.NEUTRAL;
			}

		};
		LoggerContext logging = (LoggerContext) LoggerFactory.getILoggerFactory();
		logging.addTurboFilter(broken);
		try {
			inTransaction(() -> {
				assertThatIllegalStateException().isThrownBy(() -> work.run(this::insert))
					.withMessageContaining("no space left");
				nothingIsLeft();
			});
		}
		finally {
			logging.getTurboFilterList().remove(broken);
		}
		assertThat(entries()).isZero();
	}

	@Test
	void transactionManagerWithoutSynchronizationCanBeIgnored() {
		this.transactions.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		Work work = start((postProcessor) -> postProcessor.setInsideTransaction(InsideTransaction.IGNORE));
		inTransaction(() -> {
			work.run(this::insert);
			nothingIsLeft();
		});
		assertThat(entries()).isOne();
	}

}
