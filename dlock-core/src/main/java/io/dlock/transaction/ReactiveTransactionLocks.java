package io.dlock.transaction;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * The reactive transaction in which a locked method is subscribed to: it travels in the
 * Reactor context.
 */
final class ReactiveTransactionLocks implements TransactionSynchronization {

	private final TransactionLocks locks = new TransactionLocks();

	private final TransactionSynchronizationManager transaction;

	private final Consumer<? super ReactiveTransactionLocks> commitCheck;

	private final Executor executor;

	private ReactiveTransactionLocks(TransactionSynchronizationManager transaction,
			Consumer<? super ReactiveTransactionLocks> commitCheck, Executor executor) {
		this.transaction = transaction;
		this.commitCheck = commitCheck;
		this.executor = executor;
	}

	/**
	 * Find the transaction of a subscriber.
	 * @param context the context of the subscriber
	 * @return the transaction, or {@code null} if there is none
	 */
	static @Nullable TransactionSynchronizationManager find(ContextView context) {
		if (context.isEmpty()) {
			return null;
		}
		AtomicReference<@Nullable TransactionSynchronizationManager> found = new AtomicReference<>();
		// completes at once, with an error if there is no transaction
		TransactionSynchronizationManager.forCurrentTransaction()
			.contextWrite(context)
			.subscribe(found::set, (none) -> {
			});
		TransactionSynchronizationManager transaction = found.get();
		return (transaction != null && transaction.isActualTransactionActive() && transaction.isSynchronizationActive())
				? transaction : null;
	}

	/**
	 * Let a transaction keep locks.
	 * @param commitCheck throws if it must not commit
	 * @param executor releases the locks
	 */
	static TransactionLocks join(TransactionSynchronizationManager transaction,
			Consumer<? super ReactiveTransactionLocks> commitCheck, Executor executor) {
		ReactiveTransactionLocks current = (ReactiveTransactionLocks) transaction
			.getResource(ReactiveTransactionLocks.class);
		if (current == null) {
			current = new ReactiveTransactionLocks(transaction, commitCheck, executor);
			transaction.bindResource(ReactiveTransactionLocks.class, current);
			transaction.registerSynchronization(current);
		}
		return current.locks;
	}

	TransactionLocks locks() {
		return this.locks;
	}

	@Nullable String name() {
		return this.transaction.getCurrentTransactionName();
	}

	@Override
	public Mono<Void> suspend() {
		return Mono.fromRunnable(() -> this.transaction.unbindResourceIfPossible(ReactiveTransactionLocks.class));
	}

	@Override
	public Mono<Void> resume() {
		return Mono.fromRunnable(() -> this.transaction.bindResource(ReactiveTransactionLocks.class, this));
	}

	@Override
	public Mono<Void> beforeCommit(boolean readOnly) {
		return Mono.fromRunnable(() -> this.commitCheck.accept(this));
	}

	/**
	 * The store may block, which the thread of the transaction must not.
	 */
	@Override
	public Mono<Void> afterCompletion(int status) {
		return suspend().then(Mono.fromFuture(() -> {
			CompletableFuture<Void> done = new CompletableFuture<>();
			this.executor.execute(() -> {
				try {
					this.locks.transactionDone(status == STATUS_ROLLED_BACK);
				}
				finally {
					done.complete(null);
				}
			});
			return done;
		}, true));
	}

}
