package com.example.orders;

import java.util.concurrent.CompletableFuture;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
class AsyncOrderController {

	private final AsyncOrderService orders;

	AsyncOrderController(AsyncOrderService orders) {
		this.orders = orders;
	}

	@PostMapping("/orders/async")
	@ResponseStatus(HttpStatus.CREATED)
	CompletableFuture<PlacedOrder> place(@RequestBody Order order) {
		return this.orders.place(order);
	}

}
