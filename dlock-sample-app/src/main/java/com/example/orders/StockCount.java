package com.example.orders;

/**
 * How many pieces of a product there are.
 *
 * @param stock the number of pieces
 */
record StockCount(int stock) {

	StockCount {
		if (stock < 0) {
			throw new IllegalArgumentException("'stock' must not be negative but is " + stock);
		}
	}

}
