package com.example.orders;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import io.dlock.LockInfo;
import io.dlock.LockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The fate of an order whose lock is taken away from it.
 */
@SpringBootTest(properties = { "spring.datasource.url=jdbc:h2:mem:lost;LOCK_TIMEOUT=20000", "orders.work-time=1s",
		"orders.report-cron=-", "dlock.endpoint.forced-release=always" })
@AutoConfigureMockMvc
class LostLockTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private LockRegistry locks;

	@Autowired
	private StockService stock;

	/**
	 * If the next order has sold already, the fence refuses this one; otherwise the loss
	 * of its lock does.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "/orders", "/orders/async", "/orders/reactive" })
	void r48OrderWhoseLockIsTakenAwaySellsNothing(String path) {
		CompletableFuture<MvcTestResult> order = Awaitility.await()
			.until(() -> orderWhoseLockIsTakenAway(path), Objects::nonNull);
		assertThat(order("/orders")).as("the next order")
			.hasStatus(201)
			.bodyJson()
			.isLenientlyEqualTo("{\"stockLeft\": 99}");
		assertThat(order).succeedsWithin(Duration.ofSeconds(30))
			.satisfies((answer) -> assertThat(answer).bodyJson()
				.extractingPath("$.detail")
				.asString()
				.satisfiesAnyOf((detail) -> assertThat(detail).contains("was lost"),
						(detail) -> assertThat(detail).contains("came too late")))
			.extracting((answer) -> answer.getResponse().getStatus())
			.isIn(500, 409);
		assertThat(this.mvc.get().uri("/stock/pen")).bodyJson().isLenientlyEqualTo("{\"stock\": 99, \"sold\": 1}");
	}

	/**
	 * An order may end before, on a busy machine.
	 */
	private @Nullable CompletableFuture<MvcTestResult> orderWhoseLockIsTakenAway(String path) {
		// an order of before may have been answered before its lock was released
		Awaitility.await().until(() -> this.locks.find("stock:pen").isEmpty());
		this.stock.set("pen", 100);
		CompletableFuture<MvcTestResult> order = CompletableFuture.supplyAsync(() -> order(path));
		Optional<LockInfo> lock = Awaitility.await()
			.until(() -> this.locks.find("stock:pen"), (found) -> found.isPresent() || order.isDone());
		boolean taken = lock.isPresent() && this.mvc.delete()
			.uri("/actuator/dlocks?key=stock:pen&token={token}", lock.get().token())
			.exchange()
			.getResponse()
			.getStatus() == 200;
		if (!taken) {
			order.join();
		}
		return taken ? order : null;
	}

	private MvcTestResult order(String path) {
		return this.mvc.post()
			.uri(path)
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"product\": \"pen\", \"quantity\": 1}")
			.exchange();
	}

}
