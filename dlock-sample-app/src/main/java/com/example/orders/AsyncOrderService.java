package com.example.orders;

import java.util.concurrent.CompletableFuture;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;
import org.springframework.transaction.support.TransactionOperations;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.OnLost;
import io.dlock.ReactiveLockContext;
import io.dlock.fencing.jdbc.FencingGuard;

/**
 * As {@link OrderService}, with the same lock, but no thread waits for it or for the
 * order: the lock is held until the returned future or {@code Mono} completes.
 */
@Service
class AsyncOrderService {

	private final Stock stock;

	private final FencingGuard fence;

	private final TransactionOperations transactions;

	private final AsyncTaskExecutor executor;

	AsyncOrderService(Stock stock, FencingGuard fence, TransactionOperations transactions,
			@Qualifier("applicationTaskExecutor") AsyncTaskExecutor executor) {
		this.stock = stock;
		this.fence = fence;
		this.transactions = transactions;
		this.executor = executor;
	}

	/**
	 * Should the lock be lost, the customer is told at once. The transaction goes on on
	 * its own thread, which has the handle, and is rolled back.
	 */
	@DistributedLocked(name = "stock", key = "#order.product", waitTime = "${orders.wait-time}",
			onLost = OnLost.INTERRUPT, reason = "place an order")
	CompletableFuture<PlacedOrder> place(Order order) {
		LockHandle handle = LockHandle.current().orElseThrow();
		return this.executor.submitCompletable(() -> sell(order, handle));
	}

	/**
	 * The thread of {@code @Async} waits for the lock and does the work.
	 */
	@Async
	@DistributedLocked(name = "stock", key = "#order.product", waitTime = "${orders.wait-time}",
			reason = "place an order")
	CompletableFuture<PlacedOrder> placeInBackground(Order order) {
		return CompletableFuture.completedFuture(sell(order, LockHandle.current().orElseThrow()));
	}

	/**
	 * The work is done on a thread of dlock, which may block.
	 */
	@DistributedLocked(name = "stock", key = "#order.product", waitTime = "${orders.wait-time}",
			reason = "place an order")
	Mono<PlacedOrder> placeReactively(Order order) {
		return ReactiveLockContext.currentHandle().map((handle) -> sell(order, handle));
	}

	/**
	 * On another thread, which gets to see the handle.
	 */
	private PlacedOrder sell(Order order, LockHandle handle) {
		LockContext.Binding binding = LockContext.bind(handle);
		try {
			return this.transactions.execute((transaction) -> {
				this.fence.check();
				return this.stock.sell(order);
			});
		}
		finally {
			binding.close();
		}
	}

}
