package com.example.orders;

import java.util.UUID;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.MediaType;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The stock in Redis, where a write that comes too late replaces nothing.
 */
@SpringBootTest(
		properties = { "spring.datasource.url=jdbc:h2:mem:board", "orders.work-time=1ms", "orders.report-cron=-" })
@ActiveProfiles("redis")
@AutoConfigureMockMvc
class StockBoardIntegrationTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private StockBoard board;

	@DynamicPropertySource
	static void redis(DynamicPropertyRegistry properties) {
		properties.add("spring.data.redis.host", RedisServer.shared()::host);
		properties.add("spring.data.redis.port", RedisServer.shared()::port);
	}

	@Test
	void theBoardShowsTheLastOrderAndNotTheOneThatComesTooLate() {
		assertThat(this.mvc.post()
			.uri("/orders")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"product\": \"pen\", \"quantity\": 1}")).hasStatus(201);
		assertThat(this.mvc.get().uri("/board/pen")).hasBodyTextEqualTo("99");
		this.board.show(new PlacedOrder(UUID.randomUUID(), "pen", 1, 100, "1", "late"));
		assertThat(this.mvc.get().uri("/board/pen")).hasBodyTextEqualTo("99");
	}

}
