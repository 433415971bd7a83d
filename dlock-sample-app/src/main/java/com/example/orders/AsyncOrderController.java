package com.example.orders;

import java.util.concurrent.CompletableFuture;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

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

	@PostMapping("/orders/background")
	@ResponseStatus(HttpStatus.CREATED)
	CompletableFuture<PlacedOrder> placeInBackground(@RequestBody Order order) {
		return this.orders.placeInBackground(order);
	}

	@PostMapping("/orders/reactive")
	@ResponseStatus(HttpStatus.CREATED)
	Mono<PlacedOrder> placeReactively(@RequestBody Order order) {
		return this.orders.placeReactively(order);
	}

}
