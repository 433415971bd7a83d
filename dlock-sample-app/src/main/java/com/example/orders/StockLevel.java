package com.example.orders;

/**
 * What is left of a product and what has been sold.
 *
 * @param product the product
 * @param stock how many are left
 * @param sold how many have been ordered since the stock was set
 */
record StockLevel(String product, int stock, int sold) {

}
