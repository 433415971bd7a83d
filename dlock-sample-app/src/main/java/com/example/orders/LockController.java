package com.example.orders;

import java.util.List;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import io.dlock.LockRegistry;

@RestController
class LockController {

	private final LockRegistry locks;

	private final Stock stock;

	LockController(LockRegistry locks, Stock stock) {
		this.locks = locks;
		this.stock = stock;
	}

	@GetMapping("/locks")
	List<ProductLock> locks() {
		return this.stock.products().stream().map(this::find).toList();
	}

	private ProductLock find(String product) {
		return this.locks.find("stock:" + product)
			.map((lock) -> ProductLock.held(product, lock))
			.orElseGet(() -> ProductLock.free(product));
	}

}
