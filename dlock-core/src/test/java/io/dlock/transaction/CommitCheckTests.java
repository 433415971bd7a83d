package io.dlock.transaction;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.aop.PostProcessors;
import io.dlock.test.ForcedLoss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * R48: a transaction whose lock is lost does not commit.
 */
public class CommitCheckTests extends AbstractTransactionTests {

	@Test
	void r48LostLockRollsBackTheTransactionOfTheMethod() {
		Work work = start();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> work.runInTransaction(() -> {
			insert();
			loseLock();
		})).withMessageContaining("released by force").withMessageContaining("Work.runInTransaction is rolled back");
		assertThat(entries()).isZero();
		nothingIsLeft();
	}

	@Test
	void r48LossBetweenTheSynchronizationsAndTheCommitIsSeen() {
		Work work = start();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> work.runInTransaction(() -> {
			insert();
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCompletion() {
					loseLock();
				}

				@Override
				public int getOrder() {
					return LOWEST_PRECEDENCE;
				}

			});
		}));
		assertThat(entries()).isZero();
	}

	@Test
	void r48LockThatIsLostAfterItsMethodRollsBackTheTransactionAroundIt() {
		Work work = start();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(() -> {
			work.other(this::insert);
			loseLock();
		}));
		assertThat(entries()).isZero();
		nothingIsLeft();
	}

	@Test
	void r48LossRollsBackEvenIfItsExceptionIsCaught() {
		Work work = start();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(() -> {
			insert();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> work.other(this::loseLock))
				.withMessageNotContaining("is rolled back");
		})).withMessageContaining("is rolled back");
		assertThat(entries()).isZero();
		nothingIsLeft();
	}

	@Test
	void r48TransactionInsideALockOfTheRegistryIsCheckedAsWell() {
		start();
		LockRequest request = LockRequest.of(KEY);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.registry.execute(request, (handle) -> {
			inNewTransaction(() -> {
				insert();
				loseLock();
			});
			return "not reached";
		}));
		assertThat(entries()).isZero();
		nothingIsLeft();
	}

	@Test
	void r48LossOfALockAroundAValidOneRollsBack() {
		Work work = start();
		LockRequest around = LockRequest.of("around");
		try (LockHandle outer = this.registry.acquire("outermost")) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.registry.execute(around, (lost) -> {
					work.run(() -> inTransaction(() -> {
						insert();
						ForcedLoss.of(this.registry, lost);
					}));
					return "not reached";
				}))
				.withMessageContaining("'around'")
				.withMessageContaining("is rolled back");
			assertThat(outer.isValid()).isTrue();
		}
		assertThat(entries()).isZero();
		nothingIsLeft();
	}

	@Test
	void r48LockThatMayBeLostDoesNotRollBack() {
		Work work = start();
		inTransaction(() -> {
			work.runCarelessly(this::insert);
			loseLock();
		});
		work.runCarelessly(() -> inTransaction(() -> {
			insert();
			loseLock();
		}));
		assertThat(entries()).isEqualTo(2);
		nothingIsLeft();
	}

	@Test
	void r48ReadOnlyTransactionIsChecked() {
		Work work = start();
		TransactionTemplate readOnly = transaction(TransactionDefinition.PROPAGATION_REQUIRED);
		readOnly.setReadOnly(true);
		Runnable read = () -> readOnly.executeWithoutResult((status) -> assertThat(entries()).isZero());
		work.run(read);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> work.other(() -> {
			loseLock();
			read.run();
		})).withMessageContaining("is rolled back");
	}

	@Test
	void checkCanBeSwitchedOff() {
		Work work = start((postProcessor) -> postProcessor.setCommitCheck(false));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> work.runInTransaction(() -> {
			insert();
			loseLock();
		})).withMessageNotContaining("is rolled back");
		assertThat(entries()).as("committed all the same").isOne();
	}

	@Test
	void guardIsAskedForEachLockAndItsExceptionRollsBack() {
		List<String> asked = new ArrayList<>();
		Work work = start((postProcessor) -> postProcessor.setCommitGuard(() -> (transaction, lock) -> {
			asked.add(lock.key());
			if (asked.size() == 3) {
				throw new LockLostException(lock.key(), lock.token(), "another listener says so");
			}
		}));
		inTransaction(this::insert);
		assertThat(asked).as("outside of any lock").isEmpty();
		try (LockHandle outer = this.registry.acquire("outer")) {
			work.runInTransaction(this::insert);
			assertThat(asked).containsExactlyInAnyOrder("outer", KEY);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(this::insert))
				.withMessageContaining("another listener says so");
		}
		assertThat(entries()).isEqualTo(2);
	}

	@Test
	void guardIsAskedOnceForALockThatIsTakenSeveralTimes() {
		List<String> asked = new ArrayList<>();
		Work work = start(
				(postProcessor) -> postProcessor.setCommitGuard(() -> (transaction, lock) -> asked.add(lock.key())));
		inTransaction(() -> {
			work.run(() -> work.other(this::insert));
			work.run(this::insert);
		});
		assertThat(asked).containsExactly(KEY);
	}

	/**
	 * A guard that locks rows locks them in one order, in which they are locked elsewhere
	 * too. The order of the keys as the user wrote them is another.
	 */
	@Test
	void guardIsAskedInTheOrderOfTheStorageKeys() {
		List<String> asked = new ArrayList<>();
		start((postProcessor) -> postProcessor.setCommitGuard(() -> (transaction, lock) -> asked.add(lock.key())));
		for (List<String> keys : List.of(List.of("b", "ä"), List.of("ä", "b"))) {
			asked.clear();
			try (LockHandle outer = this.registry.acquire(keys.get(0));
					LockHandle inner = this.registry.acquire(keys.get(1))) {
				inTransaction(this::insert);
				assertThat(asked).as("%s inside of %s", inner.key(), outer.key()).containsExactly("ä", "b");
			}
		}
	}

	@Test
	void guardIsNotAskedForALockThatMayBeLost() {
		List<String> asked = new ArrayList<>();
		Work work = start(
				(postProcessor) -> postProcessor.setCommitGuard(() -> (transaction, lock) -> asked.add(lock.key())));
		try (LockHandle outer = this.registry.acquire("outer")) {
			work.runCarelessly(() -> inTransaction(this::insert));
			assertThat(outer.isValid()).isTrue();
		}
		assertThat(asked).containsExactly("outer");
	}

	@Test
	void transactionManagersOfTheParentContextCheckAsWell() {
		Work work = start();
		DataSourceTransactionManager parents = new DataSourceTransactionManager(this.dataSource);
		try (AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext();
				AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
			parent.registerBean(PlatformTransactionManager.class, () -> parents);
			parent.refresh();
			child.setParent(parent);
			child.registerBean(DistributedLockedBeanPostProcessor.class,
					() -> PostProcessors.create(() -> this.registry));
			child.refresh();
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> work.other(() -> new TransactionTemplate(parents).executeWithoutResult((status) -> {
					insert();
					loseLock();
				})));
		}
		assertThat(entries()).isZero();
	}

	@Test
	void r48TransactionManagerThatIsCreatedAfterTheStartChecksAsWell() {
		Work work = start();
		this.context.registerBean("later", PlatformTransactionManager.class,
				() -> new DataSourceTransactionManager(this.dataSource));
		TransactionTemplate later = new TransactionTemplate(
				this.context.getBean("later", PlatformTransactionManager.class));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> work.other(() -> later.executeWithoutResult((status) -> {
				insert();
				loseLock();
			})))
			.withMessageContaining("is rolled back");
		assertThat(entries()).isZero();
	}

}
