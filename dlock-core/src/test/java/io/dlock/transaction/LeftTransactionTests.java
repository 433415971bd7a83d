package io.dlock.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.DistributedLocked;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * C9: a method that leaves the transaction of its caller holds its lock while it runs,
 * and not until that transaction has ended.
 */
class LeftTransactionTests extends AbstractTransactionTests {

	static class Leaving {

		@DistributedLocked("'counter'")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void requiresNew(Runnable body) {
			body.run();
		}

		@DistributedLocked("'counter'")
		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public void notSupported(Runnable body) {
			body.run();
		}

		@DistributedLocked("'counter'")
		@Transactional(propagation = Propagation.NEVER)
		public void never(Runnable body) {
			body.run();
		}

		@DistributedLocked("'counter'")
		@Transactional(propagation = Propagation.NESTED)
		public void nested(Runnable body) {
			body.run();
		}

		@DistributedLocked("'counter'")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public CompletableFuture<String> later(Runnable body) {
			body.run();
			return CompletableFuture.completedFuture("done");
		}

	}

	private Leaving startLeaving(InsideTransaction inside) {
		this.context.registerBean(Leaving.class);
		start((postProcessor) -> postProcessor.setInsideTransaction(inside));
		return this.context.getBean(Leaving.class);
	}

	@ParameterizedTest
	@EnumSource(InsideTransaction.class)
	void c9LockOfANewTransactionEndsWithIt(InsideTransaction inside) {
		Leaving work = startLeaving(inside);
		AtomicInteger heldAtCommit = new AtomicInteger();
		inTransaction(() -> {
			work.requiresNew(() -> {
				insert();
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						heldAtCommit.addAndGet(isHeld() ? 1 : 0);
					}

				});
			});
			nothingIsLeft();
			assertThat(entries()).isOne();
		});
		assertThat(heldAtCommit).hasValue(1);
		assertThat(warnings()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(InsideTransaction.class)
	void c9LockOutsideOfTransactionsEndsWithItsMethod(InsideTransaction inside) {
		Leaving work = startLeaving(inside);
		List<String> seen = new ArrayList<>();
		inTransaction(() -> {
			work.notSupported(() -> seen.add("held " + isHeld()));
			nothingIsLeft();
		});
		assertThat(seen).containsExactly("held true");
		assertThat(warnings()).isEmpty();
	}

	@Test
	void c9MethodThatIsNeverInATransactionLeavesNoLockInOne() {
		Leaving work = startLeaving(InsideTransaction.DEFER);
		inTransaction(() -> {
			assertThatExceptionOfType(IllegalTransactionStateException.class)
				.isThrownBy(() -> work.never(this::insert));
			nothingIsLeft();
		});
		assertThat(warnings()).isEmpty();
		assertThat(entries()).isZero();
	}

	@ParameterizedTest
	@EnumSource(InsideTransaction.class)
	void c9StageOfANewTransactionIsNotPartOfThatOfItsCaller(InsideTransaction inside) {
		Leaving work = startLeaving(inside);
		inTransaction(() -> {
			assertThat(work.later(this::insert)).succeedsWithin(Patience.EVENTUALLY);
			nothingIsLeft();
		});
		assertThat(entries()).isOne();
		assertThat(warnings()).isEmpty();
	}

	@Test
	void c9TransactionManagerWithoutSynchronizationDoesNotMatterToANewTransaction() {
		this.transactions.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		Leaving work = startLeaving(InsideTransaction.DEFER);
		inTransaction(() -> {
			work.requiresNew(this::insert);
			nothingIsLeft();
		});
		assertThat(entries()).isOne();
	}

	@Test
	void c9SavepointIsPartOfTheTransactionOfTheCaller() {
		Leaving work = startLeaving(InsideTransaction.DEFER);
		inTransaction(() -> {
			work.nested(this::insert);
			assertThat(isHeld()).isTrue();
		});
		nothingIsLeft();
		assertThat(warnings()).hasSize(1);
	}

	@Test
	void c9LockThatTheThreadHoldsIsNotEndedByANewTransaction() {
		Leaving work = startLeaving(InsideTransaction.DEFER);
		inTransaction(() -> {
			work.nested(this::insert);
			work.requiresNew(this::insert);
			assertThat(isHeld()).isTrue();
		});
		nothingIsLeft();
	}

	static class Elsewhere {

		@DistributedLocked("'counter'")
		@Transactional(transactionManager = "other", propagation = Propagation.REQUIRES_NEW)
		public void requiresNew(Runnable body) {
			body.run();
		}

		@DistributedLocked("'counter'")
		@Transactional(transactionManager = "other", propagation = Propagation.NOT_SUPPORTED)
		public void notSupported(Runnable body) {
			body.run();
		}

	}

	/**
	 * The other manager does not suspend the transaction of the caller, in which the
	 * method writes.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void c9TransactionOfAnotherManagerIsNotLeft(boolean requiresNew) {
		registerOther();
		this.context.registerBean(Elsewhere.class);
		start();
		Elsewhere work = this.context.getBean(Elsewhere.class);
		inTransaction(() -> {
			if (requiresNew) {
				work.requiresNew(this::insert);
			}
			else {
				work.notSupported(this::insert);
			}
			assertThat(isHeld()).isTrue();
		});
		assertThat(entries()).isOne();
		nothingIsLeft();
	}

	private void registerOther() {
		this.context.registerBean("other", PlatformTransactionManager.class, () -> {
			JdbcDataSource other = new JdbcDataSource();
			other.setURL("jdbc:h2:mem:");
			return new DataSourceTransactionManager(other);
		});
	}

	private TransactionTemplate other(int propagation) {
		return new TransactionTemplate(this.context.getBean("other", PlatformTransactionManager.class),
				new DefaultTransactionDefinition(propagation));
	}

	/**
	 * The transaction of the other manager suspends only the synchronizations of the one
	 * in which the method writes.
	 */
	@ParameterizedTest
	@ValueSource(ints = { TransactionDefinition.PROPAGATION_REQUIRED, TransactionDefinition.PROPAGATION_REQUIRES_NEW })
	void r47LockInATransactionOfAnotherManagerOutlastsTheTransactionAroundIt(int propagation) {
		registerOther();
		Work work = start();
		AtomicInteger heldAtCommit = new AtomicInteger();
		inTransaction(() -> {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					heldAtCommit.addAndGet(isHeld() ? 1 : 0);
				}

			});
			other(propagation).executeWithoutResult(
					(status) -> other(propagation).executeWithoutResult((inner) -> work.run(this::insert)));
			assertThat(isHeld()).isTrue();
			work.run(this::insert);
		});
		assertThat(heldAtCommit).hasValue(1);
		assertThat(entries()).isEqualTo(2);
		nothingIsLeft();
	}

	@Test
	void r47LockOfANewTransactionInOneOfAnotherManagerEndsBeforeTheSuspendedOne() {
		registerOther();
		Work work = start();
		inTransaction(() -> {
			inNewTransaction(() -> {
				other(TransactionDefinition.PROPAGATION_REQUIRED)
					.executeWithoutResult((status) -> work.run(this::insert));
				assertThat(isHeld()).isTrue();
			});
			nothingIsLeft();
		});
		assertThat(entries()).isOne();
	}

	static class Listener {

		@DistributedLocked("'counter'")
		@Transactional(transactionManager = "platformTransactionManager", propagation = Propagation.REQUIRES_NEW)
		public void withData(Runnable body) {
			body.run();
		}

		@DistributedLocked("'counter'")
		@Transactional(transactionManager = "other", propagation = Propagation.REQUIRES_NEW)
		public void withMessages(Runnable body) {
			body.run();
		}

	}

	/**
	 * With a manager like those of Kafka, JMS and RabbitMQ beside that of the data.
	 */
	private Listener startWithMessages() {
		registerOther();
		this.context.addBeanFactoryPostProcessor((beans) -> beans.addBeanPostProcessor(new BeanPostProcessor() {

			@Override
			public Object postProcessBeforeInitialization(Object bean, String beanName) {
				if (beanName.equals("other")) {
					((AbstractPlatformTransactionManager) bean)
						.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
				}
				return bean;
			}

		}));
		this.context.registerBean(Listener.class);
		start();
		return this.context.getBean(Listener.class);
	}

	@Test
	void c9TransactionOfMessagesIsLeftByANewOneOfTheData() {
		Listener work = startWithMessages();
		other(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> {
			work.withData(this::insert);
			nothingIsLeft();
		});
		inTransaction(() -> {
			work.withData(this::insert);
			nothingIsLeft();
		});
		assertThat(entries()).isEqualTo(2);
		assertThat(warnings()).isEmpty();
	}

	@Test
	void c9TransactionOfTheDataIsNotLeftByANewOneOfMessages() {
		Listener work = startWithMessages();
		inTransaction(() -> {
			work.withMessages(this::insert);
			assertThat(isHeld()).isTrue();
		});
		assertThat(entries()).isOne();
		nothingIsLeft();
	}

	static class Later {

		@DistributedLocked("'counter'")
		public CompletableFuture<String> later() {
			return CompletableFuture.completedFuture("done");
		}

	}

	@Test
	void r47AsynchronousCallsShareTheLockInTransactionsOfTwoManagers() {
		registerOther();
		this.context.registerBean(Later.class);
		start();
		Later work = this.context.getBean(Later.class);
		inTransaction(() -> {
			other(TransactionDefinition.PROPAGATION_REQUIRED)
				.executeWithoutResult((status) -> assertThat(work.later()).succeedsWithin(Patience.EVENTUALLY));
			assertThat(isHeld()).isTrue();
			assertThat(work.later()).succeedsWithin(Patience.EVENTUALLY);
		});
		nothingIsLeft();
	}

}
