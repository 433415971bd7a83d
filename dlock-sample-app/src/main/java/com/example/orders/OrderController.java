package com.example.orders;

import java.util.List;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
class OrderController {

	private final OrderService orders;

	private final UnlockedOrderService unlockedOrders;

	private final CartService carts;

	OrderController(OrderService orders, UnlockedOrderService unlockedOrders, CartService carts) {
		this.orders = orders;
		this.unlockedOrders = unlockedOrders;
		this.carts = carts;
	}

	@PostMapping("/orders")
	@ResponseStatus(HttpStatus.CREATED)
	PlacedOrder place(@RequestBody Order order, @RequestParam(defaultValue = "true") boolean lock) {
		return lock ? this.orders.place(order) : this.unlockedOrders.place(order);
	}

	@PostMapping("/carts")
	@ResponseStatus(HttpStatus.CREATED)
	List<PlacedOrder> place(@RequestBody List<Order> cart, @RequestParam(defaultValue = "true") boolean together) {
		if (cart.isEmpty()) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "The cart is empty");
		}
		return together ? this.carts.placeTogether(cart) : this.carts.placeEach(cart);
	}

}
