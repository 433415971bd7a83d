package com.example.orders;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * The same as {@link OrderService} without the lock, for comparison: the transaction
 * alone does not prevent that two orders sell the same piece.
 */
@Service
class UnlockedOrderService {

	private final Stock stock;

	UnlockedOrderService(Stock stock) {
		this.stock = stock;
	}

	@Transactional
	PlacedOrder place(Order order) {
		return this.stock.sell(order);
	}

}
