package io.dlock.transaction;

import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.ReactiveTransaction;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

import io.dlock.LockLostException;
import io.dlock.ReactiveLockContext;

/**
 * A reactive transaction manager that commits no transaction whose subscriber has lost a
 * lock: the transaction is rolled back, and the commit ends with the
 * {@link LockLostException}. Wrap your transaction manager in it:
 *
 * <pre class="code">
 * &#64;Bean
 * ReactiveTransactionManager transactionManager(ConnectionFactory connectionFactory) {
 *     return new LockCheckingTransactionManager(new R2dbcTransactionManager(connectionFactory));
 * }
 * </pre>
 *
 * The last action before the commit is to check the locks in the Reactor context
 * ({@link ReactiveLockContext}). Transactions that are bound to a thread are checked
 * without such a wrapper. Reactive transactions cannot be, because their managers do not
 * pass the context on. A lock that is taken inside a reactive transaction and kept until
 * its end is checked in any case, and one with {@code onLost = IGNORE} is not.
 * <p>
 * As with every lease lock, the process may be paused between the check and the commit.
 *
 * @since 0.1
 */
public final class LockCheckingTransactionManager implements ReactiveTransactionManager {

	private final ReactiveTransactionManager delegate;

	/**
	 * Create a checking transaction manager.
	 * @param delegate the manager that begins, commits and rolls back
	 */
	public LockCheckingTransactionManager(ReactiveTransactionManager delegate) {
		this.delegate = Objects.requireNonNull(delegate);
	}

	@Override
	public Mono<ReactiveTransaction> getReactiveTransaction(@Nullable TransactionDefinition definition) {
		return this.delegate.getReactiveTransaction(definition);
	}

	@Override
	public Mono<Void> commit(ReactiveTransaction transaction) {
		return Mono.deferContextual((context) -> {
			LockLostException loss = transaction.isNewTransaction() ? loss(context) : null;
			if (loss == null) {
				return this.delegate.commit(transaction);
			}
			return this.delegate.rollback(transaction).then(Mono.error(loss));
		});
	}

	private static @Nullable LockLostException loss(ContextView context) {
		try {
			ReactiveLockContext.all(context)
				.stream()
				.filter((lock) -> !context.hasKey(new IgnoredLossKey(lock)))
				.forEach((lock) -> CommitCheckListener.isHeld(null, lock));
			return null;
		}
		catch (LockLostException ex) {
			return ex;
		}
	}

	@Override
	public Mono<Void> rollback(ReactiveTransaction transaction) {
		return this.delegate.rollback(transaction);
	}

}
