package com.example.shop;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * The shop.
 */
@SpringBootApplication
@EnableCaching
@EnableRetry
@EnableResilientMethods
@EnableAsync
@EnableScheduling
class ShopApplication {

}
