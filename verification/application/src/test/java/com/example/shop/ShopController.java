package com.example.shop;

import io.dlock.LockBusyException;
import jakarta.validation.ConstraintViolationException;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * Sells.
 */
@RestController
class ShopController {

	/** Runs between the first look at a product and its sale. */
	Runnable thought = () -> {
	};

	private final Products products;

	private final StockService stock;

	ShopController(Products products, StockService stock) {
		this.products = products;
		this.stock = stock;
	}

	@PostMapping("/products/{product}/sales")
	int sell(@PathVariable String product, @RequestParam int quantity) {
		return this.stock.sell(product, quantity);
	}

	/**
	 * Looks at the product before, as most controllers do.
	 */
	@PostMapping("/products/{product}/thoughtful-sales")
	int thoughtfulSell(@PathVariable String product) {
		look(product);
		return this.stock.sell(product, 1);
	}

	@PostMapping("/products/{product}/fresh-sales")
	int freshSell(@PathVariable String product) {
		look(product);
		return this.stock.sellFresh(product, 1);
	}

	private void look(String product) {
		Product found = this.products.findById(product).orElseThrow();
		if (found.stock() < 1) {
			throw new IllegalStateException("sold out");
		}
		this.thought.run();
	}

	@ExceptionHandler(LockBusyException.class)
	@ResponseStatus(HttpStatus.CONFLICT)
	void busy() {
	}

	@ExceptionHandler(ConstraintViolationException.class)
	@ResponseStatus(HttpStatus.BAD_REQUEST)
	void invalid() {
	}

}
