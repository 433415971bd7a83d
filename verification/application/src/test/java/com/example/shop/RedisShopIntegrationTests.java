package com.example.shop;

import io.dlock.test.RedisServer;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestPropertySource;

@TestPropertySource(
		properties = { "dlock.backend=redis", "spring.datasource.url=jdbc:h2:mem:redis-shop;DB_CLOSE_DELAY=-1" })
class RedisShopIntegrationTests extends AbstractShopTests {

	@DynamicPropertySource
	static void redis(DynamicPropertyRegistry properties) {
		properties.add("spring.data.redis.host", RedisServer.shared()::host);
		properties.add("spring.data.redis.port", RedisServer.shared()::port);
	}

}
