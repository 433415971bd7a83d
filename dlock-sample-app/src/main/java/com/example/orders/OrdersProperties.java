package com.example.orders;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Configuration of the order service.
 *
 * @param instance the name of this instance in answers and orders
 * @param workTime how long the (simulated) payment of an order takes
 */
@ConfigurationProperties("orders")
record OrdersProperties(@DefaultValue("orders") String instance, @DefaultValue("50ms") Duration workTime) {

}
