package com.example.orders;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.dlock.DistributedLocked;
import io.dlock.fencing.jdbc.FencingGuard;

/**
 * Sells the stock, one order at a time for each product, whichever instance takes it. The
 * lock is outside the transaction: it is released when the transaction has been
 * committed, so that the next order reads the stock that this one has written. Should
 * this instance be paused for longer than its lease and be overtaken, the fence refuses
 * its late writes.
 */
@Service
class OrderService {

	private final Stock stock;

	private final FencingGuard fence;

	OrderService(Stock stock, FencingGuard fence) {
		this.stock = stock;
		this.fence = fence;
	}

	@DistributedLocked(name = "stock", key = "#order.product", waitTime = "${orders.wait-time}",
			reason = "place an order")
	@Transactional
	PlacedOrder place(Order order) {
		this.fence.check();
		return this.stock.sell(order);
	}

}
