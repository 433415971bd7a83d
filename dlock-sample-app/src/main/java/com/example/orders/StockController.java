package com.example.orders;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/stock/{product}")
class StockController {

	private final Stock stock;

	private final StockService service;

	StockController(Stock stock, StockService service) {
		this.stock = stock;
		this.service = service;
	}

	@GetMapping
	StockLevel level(@PathVariable String product) {
		return this.stock.level(product);
	}

	@PutMapping
	StockLevel set(@PathVariable String product, @RequestBody StockCount count) {
		return this.service.set(product, count.stock());
	}

}
