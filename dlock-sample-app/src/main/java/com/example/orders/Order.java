package com.example.orders;

/**
 * A product and how many of it a customer wants to buy.
 *
 * @param product the product
 * @param quantity how many of it
 */
record Order(String product, int quantity) {

	private static final int MAX_PRODUCT_LENGTH = 100;

	Order {
		if (product == null || product.isBlank()) {
			throw new IllegalArgumentException("'product' must not be blank");
		}
		if (product.length() > MAX_PRODUCT_LENGTH) {
			throw new IllegalArgumentException("'product' must not be longer than " + MAX_PRODUCT_LENGTH);
		}
		if (quantity < 1) {
			throw new IllegalArgumentException("'quantity' must be at least 1 but is " + quantity);
		}
	}

}
