package com.example.orders;

import java.util.concurrent.CompletableFuture;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.stereotype.Service;
import org.springframework.transaction.support.TransactionOperations;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.ReactiveLockContext;

/**
 * As {@link OrderService}, with the same lock, but no thread waits for it or for the
 * order: the lock is held until the returned future or {@code Mono} completes.
 */
@Service
class AsyncOrderService {

	private final Stock stock;

	private final TransactionOperations transactions;

	private final AsyncTaskExecutor executor;

	AsyncOrderService(Stock stock, TransactionOperations transactions,
			@Qualifier("applicationTaskExecutor") AsyncTaskExecutor executor) {
		this.stock = stock;
		this.transactions = transactions;
		this.executor = executor;
	}

	@DistributedLocked(name = "stock", key = "#order.product", waitTime = "10s", reason = "place an order")
	CompletableFuture<PlacedOrder> place(Order order) {
		LockHandle handle = LockHandle.current().orElseThrow();
		return this.executor.submitCompletable(() -> sell(order, handle));
	}

	/**
	 * The work is done on a thread of Reactor that may block.
	 */
	@DistributedLocked(name = "stock", key = "#order.product", waitTime = "10s", reason = "place an order")
	Mono<PlacedOrder> placeReactively(Order order) {
		return ReactiveLockContext.currentHandle().map((handle) -> sell(order, handle));
	}

	/**
	 * On another thread, which gets to see the handle.
	 */
	private PlacedOrder sell(Order order, LockHandle handle) {
		LockContext.Binding binding = LockContext.bind(handle);
		try {
			return this.transactions.execute((transaction) -> this.stock.sell(order));
		}
		finally {
			binding.close();
		}
	}

}
