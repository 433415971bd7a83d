package com.example.orders;

import java.util.UUID;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * An accepted order.
 *
 * @param orderId the id of the order
 * @param product the product
 * @param quantity how many of it
 * @param stockLeft the stock after this order
 * @param token the fencing token of the lock, absent without a lock. Text, because it
 * does not fit a JavaScript number
 * @param instance the instance that took the order
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record PlacedOrder(UUID orderId, String product, int quantity, int stockLeft, @Nullable String token, String instance) {

}
