package com.example.orders;

import java.util.Comparator;
import java.util.List;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.dlock.DistributedLocked;

/**
 * Sells all orders of a cart or none of them.
 */
@Service
class CartService {

	private final OrderService orders;

	CartService(OrderService orders) {
		this.orders = orders;
	}

	/**
	 * Lock all products at once, around the transaction. The locks of the orders are
	 * nested in those of the cart, so that each order checks the fence of its product.
	 */
	@DistributedLocked(name = "stock", keys = "#cart.![product]", waitTime = "${orders.wait-time}",
			reason = "sell a cart")
	@Transactional
	List<PlacedOrder> placeTogether(List<Order> cart) {
		return cart.stream().map(this.orders::place).toList();
	}

	/**
	 * Lock one product after the other. The transaction runs already when the orders take
	 * their locks, so these are kept until it has ended: dlock warns of that, and here it
	 * is intended. All such carts take their locks in the same order, or two of them
	 * would wait for each other.
	 */
	@Transactional
	List<PlacedOrder> placeEach(List<Order> cart) {
		return cart.stream().sorted(Comparator.comparing(Order::product)).map(this.orders::place).toList();
	}

}
