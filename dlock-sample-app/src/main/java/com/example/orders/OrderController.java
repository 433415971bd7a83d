package com.example.orders;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
class OrderController {

	private final OrderService orders;

	private final UnlockedOrderService unlockedOrders;

	OrderController(OrderService orders, UnlockedOrderService unlockedOrders) {
		this.orders = orders;
		this.unlockedOrders = unlockedOrders;
	}

	@PostMapping("/orders")
	@ResponseStatus(HttpStatus.CREATED)
	PlacedOrder place(@RequestBody Order order, @RequestParam(defaultValue = "true") boolean lock) {
		return lock ? this.orders.place(order) : this.unlockedOrders.place(order);
	}

}
