package com.example.orders;

/**
 * There is no such product.
 */
class UnknownProductException extends RuntimeException {

	UnknownProductException(String product) {
		super("There is no product '" + product + "'");
	}

}
