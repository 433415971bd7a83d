package com.example.orders;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.dlock.DistributedLocked;

/**
 * Sells the stock, one order at a time for each product, whichever instance takes it. The
 * lock is outside the transaction: it is released when the transaction has been
 * committed, so that the next order reads what this one has written.
 */
@Service
class OrderService {

	private final Stock stock;

	OrderService(Stock stock) {
		this.stock = stock;
	}

	@DistributedLocked(name = "stock", key = "#order.product", waitTime = "${orders.wait-time}",
			reason = "place an order")
	@Transactional
	PlacedOrder place(Order order) {
		return this.stock.sell(order);
	}

}
