package com.example.orders;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;

@SpringBootApplication(proxyBeanMethods = false)
@EnableConfigurationProperties(OrdersProperties.class)
@EnableAsync
@EnableScheduling
class OrdersApplication {

	public static void main(String[] args) {
		serveDatabaseOnLoopbackOnly();
		SpringApplication.run(OrdersApplication.class, args);
	}

	/**
	 * The first instance serves the H2 file to the others (AUTO_SERVER=TRUE), by default
	 * on all network interfaces. H2 reads this when its classes are loaded: too early for
	 * application.yml.
	 */
	private static void serveDatabaseOnLoopbackOnly() {
		if (System.getProperty("h2.bindAddress") == null) {
			System.setProperty("h2.bindAddress", "127.0.0.1");
		}
	}

}
