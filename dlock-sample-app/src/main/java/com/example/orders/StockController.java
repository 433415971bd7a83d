package com.example.orders;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

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

	@GetMapping("/report")
	StockLevel report(@PathVariable String product) {
		return this.service.report(product);
	}

	@PutMapping
	StockLevel set(@PathVariable String product, @RequestBody StockCount count,
			@RequestHeader(name = "Fencing-Token", required = false) @Nullable Long token) {
		if (token == null) {
			return this.service.set(product, count.stock());
		}
		if (token <= 0) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "The fencing token must be positive");
		}
		return this.service.set(product, count.stock(), token);
	}

}
