package com.example.orders;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
@RequestMapping("/stock/{product}")
class StockController {

	private static final int LONGEST_COUNT = 300;

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

	@PostMapping("/count")
	StockLevel countByHand(@PathVariable String product, @RequestParam(defaultValue = "20") int seconds)
			throws InterruptedException {
		if (seconds < 0 || seconds > LONGEST_COUNT) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "A count takes 0 to 300 seconds");
		}
		return this.service.countByHand(product, Duration.ofSeconds(seconds));
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
