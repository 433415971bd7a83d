package io.dlock.transaction;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;

import io.dlock.LockHandle;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.aop.PostProcessors;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A context and the contexts below it, which come and go, have one transaction manager.
 */
class SharedTransactionManagerTests extends AbstractTransactionTests {

	private final List<String> asked = new ArrayList<>();

	private final CommitGuard guard = (transaction, lock) -> this.asked.add(lock.key());

	private AnnotationConfigApplicationContext child(ApplicationContext parent,
			Consumer<DistributedLockedBeanPostProcessor> settings) {
		AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
		DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(() -> this.registry);
		settings.accept(postProcessor);
		child.setParent(parent);
		child.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
		child.refresh();
		return child;
	}

	private void childrenComeAndGo(ApplicationContext parent) {
		for (int i = 0; i < 3; i++) {
			child(parent, (postProcessor) -> postProcessor.setCommitGuard(() -> this.guard)).close();
		}
	}

	private void commitInside(String key) {
		try (LockHandle lock = this.registry.acquire(key)) {
			inTransaction(() -> assertThat(lock.isValid()).isTrue());
		}
	}

	@Test
	void managerHasOneListenerOfATypeForAllContexts() {
		start();
		assertThat(this.transactions.getTransactionExecutionListeners()).hasSize(2);
		childrenComeAndGo(this.context);
		assertThat(this.transactions.getTransactionExecutionListeners()).hasSize(2);
	}

	@Test
	void managerWithoutSynchronizationHasOneListenerMore() {
		this.transactions.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		start();
		childrenComeAndGo(this.context);
		assertThat(this.transactions.getTransactionExecutionListeners()).hasSize(3);
	}

	@Test
	void guardThatSeveralContextsShareIsAskedOnce() {
		start((postProcessor) -> postProcessor.setCommitGuard(() -> this.guard));
		try (AnnotationConfigApplicationContext child = child(this.context,
				(postProcessor) -> postProcessor.setCommitGuard(() -> this.guard))) {
			assertThat(child.isActive()).isTrue();
			commitInside("key");
		}
		assertThat(this.asked).containsExactly("key");
	}

	@Test
	void guardsOfSeveralContextsAreAllAsked() {
		List<String> other = new ArrayList<>();
		CommitGuard guardOfTheChild = (transaction, lock) -> other.add(lock.key());
		start((postProcessor) -> postProcessor.setCommitGuard(() -> this.guard));
		try (AnnotationConfigApplicationContext child = child(this.context,
				(postProcessor) -> postProcessor.setCommitGuard(() -> guardOfTheChild))) {
			assertThat(child.isActive()).isTrue();
			commitInside("key");
		}
		assertThat(this.asked).containsExactly("key");
		assertThat(other).containsExactly("key");
	}

	@Test
	void guardOfAClosedContextIsNotAsked() {
		start();
		try (AnnotationConfigApplicationContext child = child(this.context,
				(postProcessor) -> postProcessor.setCommitGuard(() -> this.guard))) {
			assertThat(child.isActive()).isTrue();
			commitInside("before");
		}
		child(this.context, (postProcessor) -> postProcessor.setCommitGuard(() -> {
			throw new IllegalStateException("this context is closed");
		})).close();
		commitInside("after");
		assertThat(this.asked).containsExactly("before");
	}

	/**
	 * Another thread that commits reads the listeners while a child starts.
	 */
	@Test
	void listenersCanBeReadWhileAContextStarts() {
		TransactionExecutionListener own = new TransactionExecutionListener() {
		};
		try (AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext()) {
			parent.registerBean(PlatformTransactionManager.class, () -> this.transactions);
			parent.refresh();
			this.transactions.addListener(own);
			Iterator<TransactionExecutionListener> committing = this.transactions.getTransactionExecutionListeners()
				.iterator();
			childrenComeAndGo(parent);
			assertThat(committing.next()).isSameAs(own);
			assertThat(committing.hasNext()).isFalse();
			assertThat(this.transactions.getTransactionExecutionListeners()).hasSize(3).startsWith(own);
		}
	}

}
