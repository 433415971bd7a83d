package com.example.shop;

import io.dlock.test.PostgresServer;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestPropertySource;

@TestPropertySource(properties = { "dlock.backend=jdbc", "dlock.jdbc.initialize-schema=always" })
class PostgresShopIntegrationTests extends AbstractShopTests {

	@DynamicPropertySource
	static void postgres(DynamicPropertyRegistry properties) {
		properties.add("spring.datasource.url", PostgresServer.shared()::jdbcUrl);
		properties.add("spring.datasource.username", PostgresServer.shared()::username);
		properties.add("spring.datasource.password", PostgresServer.shared()::password);
	}

}
