package com.example.orders;

import java.time.Duration;
import java.util.List;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Configuration of the order service.
 *
 * @param instance the name of this instance in answers and orders
 * @param workTime how long the (simulated) payment of an order takes
 * @param instances the addresses of all instances, for the front page
 */
@ConfigurationProperties("orders")
record OrdersProperties(@DefaultValue("orders") String instance, @DefaultValue("50ms") Duration workTime,
		@DefaultValue List<String> instances) {

}
