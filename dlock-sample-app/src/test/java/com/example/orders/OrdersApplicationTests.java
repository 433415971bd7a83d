package com.example.orders;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of the endpoints of {@link OrdersApplication}.
 */
@SpringBootTest(properties = { "spring.datasource.url=jdbc:h2:mem:orders", "orders.work-time=1ms",
		"orders.wait-time=500ms", "orders.report-cron=-" })
@AutoConfigureMockMvc
class OrdersApplicationTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private LockRegistry locks;

	@Autowired
	private OrderService orders;

	@Autowired
	private StockReport report;

	@BeforeEach
	void fillUp() {
		assertThat(put("book", "{'stock': 20}")).hasStatusOk();
	}

	@Test
	void anOrderIsPlacedUnderTheLock() {
		assertThat(order("{'product': 'book', 'quantity': 3}")).hasStatus(201)
			.bodyJson()
			.hasPathSatisfying("$.orderId", (id) -> assertThat(id).asString().isNotBlank())
			.hasPathSatisfying("$.token", (token) -> assertThat(token).asString().containsOnlyDigits())
			.isLenientlyEqualTo(json("{'product': 'book', 'quantity': 3, 'stockLeft': 17, 'instance': 'orders:8080'}"));
		assertThat(get("/stock/book")).bodyJson().isEqualTo(json("{'product': 'book', 'stock': 17, 'sold': 3}"));
	}

	@Test
	void anOrderIsPlacedWithoutTheLock() {
		assertThat(post("/orders?lock=false", "{'product': 'book', 'quantity': 1}")).hasStatus(201)
			.bodyJson()
			.doesNotHavePath("$.token")
			.isLenientlyEqualTo(json("{'stockLeft': 19}"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/carts", "/carts?together=false" })
	void aCartIsSoldAsAWholeOrNotAtAll(String carts) {
		assertThat(put("pen", "{'stock': 10}")).hasStatusOk();
		assertThat(post(carts, "[{'product': 'book', 'quantity': 3}, {'product': 'pen', 'quantity': 4}]"))
			.hasStatus(201)
			.bodyJson()
			.isLenientlyEqualTo(json("[{'product': 'book', 'stockLeft': 17}, {'product': 'pen', 'stockLeft': 6}]"));
		assertThat(post(carts, "[{'product': 'pen', 'quantity': 7}, {'product': 'book', 'quantity': 3}]"))
			.hasStatus(409);
		assertThat(get("/stock/book")).bodyJson().isLenientlyEqualTo(json("{'stock': 17, 'sold': 3}"));
		assertThat(get("/locks")).bodyJson().isEqualTo(json("[{'product': 'book'}, {'product': 'pen'}]"));
	}

	@Test
	void aCartLocksAllItsProductsOrNone() {
		String cart = "[{'product': 'pen', 'quantity': 1}, {'product': 'book', 'quantity': 1}, {'product': 'pen', 'quantity': 1}]";
		assertThat(put("pen", "{'stock': 10}")).hasStatusOk();
		assertThat(post("/carts", cart)).hasStatus(201);
		try (LockHandle handle = this.locks.acquireAsync(LockRequest.of("stock:pen")).join()) {
			assertThat(post("/carts", cart)).hasStatus(423);
		}
		assertThat(get("/stock/book")).bodyJson().isLenientlyEqualTo(json("{'stock': 19, 'sold': 1}"));
		assertThat(post("/carts", "[]")).hasStatus(400);
	}

	@Test
	void orderBeyondTheStockIsRefused() {
		assertThat(order("{'product': 'book', 'quantity': 21}")).hasStatus(409)
			.bodyJson()
			.isLenientlyEqualTo(json("{'title': 'Conflict', 'detail': '21 of \\'book\\' ordered, 20 left'}"));
		assertThat(get("/stock/book")).bodyJson().isLenientlyEqualTo(json("{'stock': 20, 'sold': 0}"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "{'product': null, 'quantity': 1}", "{'product': ' ', 'quantity': 1}", "{'quantity': 1}",
			"{'product': 'book', 'quantity': 0}", "{'product': 'book'}", "{'product': 'book', 'quantity': 'one'}",
			"{'product':", "" })
	void aSenselessOrderIsRefused(String order) {
		assertThat(order(order)).hasStatus(400)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyJson()
			.isLenientlyEqualTo(json("{'title': 'Bad Request'}"));
	}

	@Test
	void aNegativeStockIsRefused() {
		assertThat(put("book", "{'stock': -1}")).hasStatus(400);
	}

	@Test
	void anUnknownProductIsNotFound() {
		assertThat(order("{'product': 'car', 'quantity': 1}")).hasStatus(404);
		assertThat(put("car", "{'stock': 1}")).hasStatus(404);
		assertThat(get("/stock/car")).hasStatus(404);
	}

	@Test
	void theHolderOfALockIsShown() {
		LockRequest request = LockRequest.builder("stock:book").reason("a test").build();
		try (LockHandle handle = this.locks.acquire(request)) {
			assertThat(get("/locks")).hasStatusOk().bodyJson().satisfies((body) -> {
				assertThat(body).extractingPath("$[0].product").isEqualTo("book");
				assertThat(body).extractingPath("$[0].holder").asString().startsWith("orders:8080");
				assertThat(body).extractingPath("$[0].reason").isEqualTo("a test");
				assertThat(body).extractingPath("$[0].token").isEqualTo(Long.toString(handle.token()));
				assertThat(body).extractingPath("$[1]").asMap().containsOnlyKeys("product");
			});
		}
		assertThat(get("/locks")).bodyJson().isEqualTo(json("[{'product': 'book'}, {'product': 'pen'}]"));
	}

	@Test
	void aStaleWriteIsRefused() {
		String stale = this.orders.place(new Order("book", 1)).token();
		String newest = this.orders.place(new Order("book", 1)).token();
		assertThat(put("book", "{'stock': 99}", stale)).hasStatus(409)
			.bodyJson()
			.extractingPath("$.detail")
			.asString()
			.contains("too late");
		assertThat(get("/stock/book")).bodyJson().isLenientlyEqualTo(json("{'stock': 18, 'sold': 2}"));
		assertThat(put("book", "{'stock': 30}", newest)).hasStatusOk();
		assertThat(get("/stock/book")).bodyJson().isLenientlyEqualTo(json("{'stock': 30, 'sold': 0}"));
		assertThat(put("book", "{'stock': 30}", "no number")).hasStatus(400);
		assertThat(put("book", "{'stock': 30}", "-1")).hasStatus(400);
	}

	@Test
	void aBusyLockIsNotAnError() {
		try (LockHandle handle = this.locks.acquireAsync(LockRequest.of("stock:book")).join()) {
			assertThat(order("{'product': 'book', 'quantity': 1}")).hasStatus(423)
				.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
				.bodyJson()
				.hasPath("$.lockedSince")
				.doesNotHavePath("$.holder");
			assertThat(handle.isValid()).isTrue();
		}
		assertThat(order("{'product': 'book', 'quantity': 1}")).hasStatus(201);
	}

	@Test
	void reportsRunBesideEachOtherAndNotBesideACount() {
		LockRequest request = LockRequest.of("stock:book");
		try (LockHandle reading = this.locks.acquireAsync(request.withMode(LockMode.SHARED)).join()) {
			assertThat(get("/stock/book/report")).bodyJson().isLenientlyEqualTo(json("{'stock': 20, 'sold': 0}"));
			assertThat(put("book", "{'stock': 21}")).hasStatus(423);
			assertThat(reading.isValid()).isTrue();
		}
		try (LockHandle writing = this.locks.acquireAsync(request).join()) {
			assertThat(get("/stock/book/report")).hasStatus(423);
			assertThat(writing.isValid()).isTrue();
		}
	}

	@Test
	void twoExportsRunAtATime() {
		LockRequest request = LockRequest.of("stock-export");
		try (LockHandle first = this.locks.acquirePermitAsync(request, 2).join()) {
			assertThat(get("/export")).hasStatusOk().bodyText().startsWith("product,stock,sold\nbook,20,0\npen,");
			try (LockHandle second = this.locks.acquirePermitAsync(request, 2).join()) {
				assertThat(get("/export")).hasStatus(423);
				assertThat(first.isValid() && second.isValid()).isTrue();
			}
		}
	}

	@Test
	void theReportIsWrittenByOneInstance() {
		this.report.write();
		assertThat(this.locks.find("stock-report")).as("stays taken").isPresent();
		this.report.write();
	}

	private MvcTestResult get(String path) {
		return this.mvc.get().uri(path).exchange();
	}

	private MvcTestResult order(String order) {
		return post("/orders", order);
	}

	private MvcTestResult post(String path, String body) {
		return this.mvc.post().uri(path).contentType(MediaType.APPLICATION_JSON).content(json(body)).exchange();
	}

	private MvcTestResult put(String product, String count) {
		return this.mvc.put()
			.uri("/stock/{product}", product)
			.contentType(MediaType.APPLICATION_JSON)
			.content(json(count))
			.exchange();
	}

	private MvcTestResult put(String product, String count, String token) {
		return this.mvc.put()
			.uri("/stock/{product}", product)
			.header("Fencing-Token", token)
			.contentType(MediaType.APPLICATION_JSON)
			.content(json(count))
			.exchange();
	}

	private static String json(String text) {
		return text.replaceAll("(?<!\\\\)'", "\"").replace("\\'", "'");
	}

}
