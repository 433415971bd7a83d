package com.example.orders;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.context.annotation.Profile;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

import io.dlock.fencing.StaleTokenException;
import io.dlock.fencing.redis.FencedValues;

/**
 * The stock as the shops show it, in Redis. It is written after the commit: an instance
 * that is paused in between must not replace what later orders have written.
 */
@RestController
@Profile("redis")
class StockBoard {

	private static final Log log = LogFactory.getLog(StockBoard.class);

	private final FencedValues values;

	StockBoard(FencedValues values) {
		this.values = values;
	}

	@GetMapping("/board/{product}")
	String level(@PathVariable String product) {
		return this.values.get(key(product)).orElse("");
	}

	@TransactionalEventListener
	void show(PlacedOrder order) {
		if (order.token() == null) {
			return;
		}
		try {
			this.values.set(key(order.product()), Integer.toString(order.stockLeft()), Long.parseLong(order.token()));
		}
		catch (StaleTokenException ex) {
			log.debug("The board shows a later order", ex);
		}
	}

	private static String key(String product) {
		return "board:" + product;
	}

}
