package io.dlock.transaction;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * C9: a reactive method that leaves the transaction of its subscriber holds its lock
 * while it runs, and not until that transaction has ended.
 */
@Timeout(60)
class LeftReactiveTransactionTests extends AbstractTransactionTests {

	static class Leaving {

		@DistributedLocked("'counter'")
		@Transactional(transactionManager = "inner", propagation = Propagation.REQUIRES_NEW)
		public Mono<String> requiresNew() {
			return Mono.just("done");
		}

		@DistributedLocked("'counter'")
		public Mono<String> joined() {
			return Mono.just("done");
		}

	}

	/**
	 * Transactions of nothing.
	 */
	static class Manager extends AbstractReactiveTransactionManager {

		@Override
		protected Object doGetTransaction(TransactionSynchronizationManager transaction) {
			return transaction;
		}

		@Override
		protected boolean isExistingTransaction(Object transaction) {
			return ((TransactionSynchronizationManager) transaction).hasResource(this);
		}

		@Override
		protected Mono<Void> doBegin(TransactionSynchronizationManager context, Object transaction,
				TransactionDefinition definition) {
			return Mono.fromRunnable(() -> context.bindResource(this, "begun"));
		}

		@Override
		protected Mono<Object> doSuspend(TransactionSynchronizationManager context, Object transaction) {
			return Mono.fromSupplier(() -> context.unbindResource(this));
		}

		@Override
		protected Mono<Void> doResume(TransactionSynchronizationManager context, Object transaction, Object suspended) {
			return Mono.fromRunnable(() -> context.bindResource(this, suspended));
		}

		@Override
		protected Mono<Void> doCommit(TransactionSynchronizationManager context, GenericReactiveTransaction status) {
			return Mono.empty();
		}

		@Override
		protected Mono<Void> doRollback(TransactionSynchronizationManager context, GenericReactiveTransaction status) {
			return Mono.empty();
		}

		@Override
		protected Mono<Void> doCleanupAfterCompletion(TransactionSynchronizationManager context, Object transaction) {
			return Mono.fromRunnable(() -> context.unbindResource(this));
		}

	}

	private final Manager inner = new Manager();

	private Leaving startLeaving() {
		return startLeaving(InsideTransaction.DEFER);
	}

	private Leaving startLeaving(InsideTransaction inside) {
		this.context.registerBean("inner", ReactiveTransactionManager.class, () -> this.inner);
		this.context.registerBean(Leaving.class);
		start((postProcessor) -> postProcessor.setInsideTransaction(inside));
		return this.context.getBean(Leaving.class);
	}

	private boolean isHeldAfter(Mono<String> call, Manager outer) {
		Mono<Boolean> held = call.then(Mono.fromSupplier(this::isHeld));
		return Boolean.TRUE.equals(TransactionalOperator.create(outer).transactional(held).block());
	}

	@Test
	void c9LockOfANewTransactionEndsWithIt() {
		assertThat(isHeldAfter(startLeaving().requiresNew(), this.inner)).isFalse();
		nothingIsLeft();
	}

	/**
	 * The other manager does not suspend the transaction of the subscriber, in which the
	 * method writes.
	 */
	@Test
	void c9TransactionOfAnotherManagerIsNotLeft() {
		Manager outer = new Manager();
		this.context.registerBean("outer", ReactiveTransactionManager.class, () -> outer);
		assertThat(isHeldAfter(startLeaving().requiresNew(), outer)).isTrue();
		nothingIsLeft();
	}

	/**
	 * The thread that subscribes holds the lock: the call is reentrant.
	 */
	@ParameterizedTest
	@EnumSource(InsideTransaction.class)
	void lockFromBeforeTheTransactionIsNotTakenInIt(InsideTransaction inside) {
		Leaving work = startLeaving(inside);
		try (LockHandle before = this.registry.acquire(KEY)) {
			assertThat(isHeldAfter(work.joined(), this.inner)).isTrue();
			assertThat(before.isValid()).isTrue();
		}
		nothingIsLeft();
		assertThat(warnings()).filteredOn((warning) -> warning.contains("was called inside")).isEmpty();
	}

	/**
	 * As of a caller with SUPPORTS: there is no transaction that ends.
	 */
	@Test
	void r47ScopeWithoutATransactionKeepsNoLock() {
		Mono<Boolean> held = startLeaving().joined().then(Mono.fromSupplier(this::isHeld));
		TransactionDefinition supports = new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_SUPPORTS);
		assertThat(TransactionalOperator.create(this.inner, supports).transactional(held).block()).isFalse();
		nothingIsLeft();
	}

}
