package com.example.orders;

import java.util.stream.Collectors;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import io.dlock.DistributedLimit;

/**
 * Exports the stock of all products, which would be much work if there were many. All
 * instances together run two exports at a time, and refuse the third.
 */
@RestController
class StockExport {

	private final Stock stock;

	StockExport(Stock stock) {
		this.stock = stock;
	}

	@GetMapping(path = "/export", produces = "text/csv")
	@DistributedLimit(name = "stock-export", limit = "${orders.exports}", waitTime = "0s")
	String export() {
		return this.stock.products()
			.stream()
			.map(this.stock::level)
			.map((level) -> "%s,%s,%s".formatted(level.product(), level.stock(), level.sold()))
			.collect(Collectors.joining("\n", "product,stock,sold\n", "\n"));
	}

}
