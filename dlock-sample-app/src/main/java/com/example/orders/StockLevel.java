package com.example.orders;

/**
 * The remaining stock of a product and the pieces sold.
 *
 * @param product the product
 * @param stock how many are left
 * @param sold how many have been ordered since the stock was set
 */
record StockLevel(String product, int stock, int sold) {

}
