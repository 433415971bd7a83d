package com.example.shop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;

import io.dlock.test.Patience;
import io.dlock.test.PostgresServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.security.test.web.servlet.request.SecurityMockMvcRequestPostProcessors.user;

/**
 * C3: with open-in-view, which is the default of Spring Boot, the lock does not help
 * against what the request has read before.
 */
@SpringBootTest(properties = { "spring.jpa.hibernate.ddl-auto=create", "dlock.backend=memory", "dlock.wait-time=20s" })
@AutoConfigureMockMvc
@ExtendWith(OutputCaptureExtension.class)
class OpenInViewIntegrationTests {

	private static final String WARNING = "was called while an EntityManager is open";

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private Products products;

	@Autowired
	private ShopController controller;

	@DynamicPropertySource
	static void postgres(DynamicPropertyRegistry properties) {
		properties.add("spring.datasource.url", PostgresServer.shared()::jdbcUrl);
		properties.add("spring.datasource.username", PostgresServer.shared()::username);
		properties.add("spring.datasource.password", PostgresServer.shared()::password);
	}

	@BeforeEach
	void stockUp() {
		this.products.save(new Product("book", 100));
		CyclicBarrier bothHaveLooked = new CyclicBarrier(2);
		this.controller.thought = () -> {
			try {
				bothHaveLooked.await(Patience.EVENTUALLY.toSeconds(), TimeUnit.SECONDS);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		};
	}

	private int stockAfterTwo(String sales) {
		// the common pool may have one thread
		Executor threads = (call) -> new Thread(call).start();
		CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> sell(sales), threads);
		CompletableFuture<Integer> second = CompletableFuture.supplyAsync(() -> sell(sales), threads);
		assertThat(first).succeedsWithin(Patience.EVENTUALLY).isEqualTo(200);
		assertThat(second).succeedsWithin(Patience.EVENTUALLY).isEqualTo(200);
		return this.products.findById("book").orElseThrow().stock();
	}

	private int sell(String sales) {
		return this.mvc.post()
			.uri("/products/book/" + sales)
			.with(user("me").roles("SELLER"))
			.exchange()
			.getResponse()
			.getStatus();
	}

	@Test
	void c3SaleIsLostIfTheRequestHasReadTheProductBeforeAndAWarningNamesTheRepair(CapturedOutput output) {
		assertThat(stockAfterTwo("thoughtful-sales")).as("the second sale is computed from the first look")
			.isEqualTo(99);
		assertThat(output.toString().split(WARNING, -1)).as("one warning for the method").hasSize(2);
		assertThat(output).contains("StockService.sell " + WARNING)
			.contains("spring.jpa.open-in-view=false")
			.contains("refresh");
	}

	@Test
	void c3SaleOfAProductThatIsReadAgainIsNotLost(CapturedOutput output) {
		assertThat(stockAfterTwo("fresh-sales")).isEqualTo(98);
		assertThat(output).contains("StockService.sellFresh " + WARNING);
	}

}
