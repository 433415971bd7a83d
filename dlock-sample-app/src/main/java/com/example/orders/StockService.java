package com.example.orders;

import java.time.Duration;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.dlock.DistributedLocked;
import io.dlock.LockMode;
import io.dlock.fencing.jdbc.FencingGuard;

/**
 * Counts the stock, and reports it. No order is taken meanwhile: the lock has the same
 * name and key as that of {@link OrderService}.
 */
@Service
class StockService {

	private final Stock stock;

	private final FencingGuard fence;

	StockService(Stock stock, FencingGuard fence) {
		this.stock = stock;
		this.fence = fence;
	}

	@DistributedLocked(name = "stock", key = "#product", waitTime = "${orders.wait-time}", reason = "count the stock")
	@Transactional
	StockLevel set(String product, int pieces) {
		this.fence.check();
		this.stock.reset(product, pieces);
		return this.stock.level(product);
	}

	/**
	 * Read the stock and the orders that made it so: nothing changes in between. The lock
	 * is shared, so that reports run beside each other.
	 */
	@DistributedLocked(name = "stock", key = "#product", mode = LockMode.SHARED, waitTime = "${orders.wait-time}",
			reason = "report the stock")
	StockLevel report(String product) {
		return this.stock.level(product);
	}

	/**
	 * Count by hand, which takes its time. Orders wait, or are refused.
	 */
	@DistributedLocked(name = "stock", key = "#product", waitTime = "${orders.wait-time}",
			reason = "count the stock by hand")
	StockLevel countByHand(String product, Duration time) throws InterruptedException {
		Thread.sleep(time.toMillis());
		return this.stock.level(product);
	}

	/**
	 * Count on behalf of the holder that got this fencing token with the lock of the
	 * product, here or elsewhere. It may have lost the lock since.
	 */
	@Transactional
	StockLevel set(String product, int pieces, long token) {
		this.fence.check("stock:" + product, token);
		this.stock.reset(product, pieces);
		return this.stock.level(product);
	}

}
