package com.example.orders;

/**
 * There is less of a product than ordered.
 */
class OutOfStockException extends RuntimeException {

	OutOfStockException(Order order, int stock) {
		super("%d of '%s' ordered, %d left".formatted(order.quantity(), order.product(), stock));
	}

}
