package com.example.orders;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Synchronous, asynchronous and reactive orders exclude each other.
 */
@SpringBootTest(properties = { "spring.datasource.url=jdbc:h2:mem:async-orders", "orders.work-time=5ms",
		"orders.wait-time=60s", "spring.mvc.async.request-timeout=60s" })
@AutoConfigureMockMvc
class AsyncOrderTests {

	private static final List<String> KINDS = List.of("/orders", "/orders/async", "/orders/background",
			"/orders/reactive");

	private static final int ORDERS = 20;

	@Autowired
	private MockMvcTester mvc;

	@Test
	void ordersOfAllKindsExcludeEachOther() {
		assertThat(this.mvc.put()
			.uri("/stock/book")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"stock\": " + ORDERS + "}")).hasStatusOk();
		ExecutorService customers = Executors.newFixedThreadPool(ORDERS);
		try {
			List<CompletableFuture<MvcTestResult>> answers = IntStream.range(0, ORDERS)
				.mapToObj((i) -> CompletableFuture.supplyAsync(() -> order(KINDS.get(i % KINDS.size())), customers))
				.toList();
			answers.forEach((answer) -> assertThat(answer.join()).hasStatus(201)
				.bodyJson()
				.hasPathSatisfying("$.token", (token) -> assertThat(token).asString().containsOnlyDigits()));
		}
		finally {
			customers.shutdown();
		}
		assertThat(this.mvc.get().uri("/stock/book")).bodyJson()
			.isLenientlyEqualTo("{\"stock\": 0, \"sold\": " + ORDERS + "}");
		assertThat(KINDS).allSatisfy((kind) -> assertThat(order(kind)).hasStatus(409));
	}

	private MvcTestResult order(String path) {
		return this.mvc.post()
			.uri(path)
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"product\": \"book\", \"quantity\": 1}")
			.exchange();
	}

}
