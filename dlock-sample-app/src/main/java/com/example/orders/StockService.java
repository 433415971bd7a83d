package com.example.orders;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.dlock.DistributedLocked;

/**
 * Counts the stock. No order is taken meanwhile: the lock has the same name and key as
 * that of {@link OrderService}.
 */
@Service
class StockService {

	private final Stock stock;

	StockService(Stock stock) {
		this.stock = stock;
	}

	@DistributedLocked(name = "stock", key = "#product", waitTime = "${orders.wait-time}", reason = "count the stock")
	@Transactional
	StockLevel set(String product, int pieces) {
		this.stock.reset(product, pieces);
		return this.stock.level(product);
	}

}
