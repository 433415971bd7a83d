package com.example.orders;

import java.util.Comparator;
import java.util.List;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Sells all orders of a cart or none of them. The transaction runs already when the
 * orders take their locks, so these are kept until it has ended: dlock warns of that, and
 * here it is intended. All carts take their locks in the same order, or two of them would
 * wait for each other.
 */
@Service
class CartService {

	private final OrderService orders;

	CartService(OrderService orders) {
		this.orders = orders;
	}

	@Transactional
	List<PlacedOrder> place(List<Order> cart) {
		return cart.stream().sorted(Comparator.comparing(Order::product)).map(this.orders::place).toList();
	}

}
