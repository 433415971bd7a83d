package com.example.shop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.test.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.test.context.support.WithMockUser;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.springframework.security.test.web.servlet.request.SecurityMockMvcRequestPostProcessors.user;

/**
 * The shop, with its locks and products in one store or another.
 */
@SpringBootTest(properties = { "spring.jpa.open-in-view=false", "spring.jpa.hibernate.ddl-auto=create",
		"management.endpoints.web.exposure.include=dlocks,health", "management.endpoint.health.show-details=always",
		"dlock.endpoint.show-keys=always", "spring.cache.type=simple", "dlock.wait-time=20s",
		"dlock.command-timeout=5s" })
@AutoConfigureMockMvc
abstract class AbstractShopTests {

	@Autowired
	MockMvcTester mvc;

	@Autowired
	Products products;

	@Autowired
	StockService stock;

	@Autowired
	Journal journal;

	@Autowired
	LockRegistry locks;

	@Autowired
	TransactionTemplate transaction;

	@BeforeEach
	void stockUp() {
		this.products.deleteAll();
		this.products.save(new Product("book", 100));
		this.stock.attempts().clear();
	}

	private int inStock() {
		return this.products.findById("book").orElseThrow().stock();
	}

	private int sell(String role, int quantity) {
		return post(role, "sales?quantity=" + quantity);
	}

	private int post(String role, String path) {
		return this.mvc.post()
			.uri("/products/book/" + path)
			.with(user("me").roles(role))
			.exchange()
			.getResponse()
			.getStatus();
	}

	private void whileHeld(String key, Runnable call) {
		LockHandle other = this.locks.acquireAsync(LockRequest.of(key)).join();
		try {
			call.run();
		}
		finally {
			other.release();
		}
	}

	@Test
	void nothingIsSoldTwice() {
		ExecutorService buyers = Executors.newFixedThreadPool(6);
		List<CompletableFuture<Integer>> sales = new ArrayList<>();
		for (int i = 0; i < 60; i++) {
			sales.add(CompletableFuture.supplyAsync(() -> sell("SELLER", 1), buyers));
		}
		sales.forEach((sale) -> assertThat(sale).succeedsWithin(Patience.EVENTUALLY).isEqualTo(200));
		buyers.shutdown();
		assertThat(inStock()).isEqualTo(40);
	}

	/**
	 * A caller that waits for the lock is told that it is busy.
	 */
	@Test
	void c7UnauthorizedOrInvalidCallDoesNotWaitForTheLock() {
		whileHeld("stock:book", () -> {
			CompletableFuture<Integer> guest = CompletableFuture.supplyAsync(() -> sell("GUEST", 1));
			CompletableFuture<Integer> nothing = CompletableFuture.supplyAsync(() -> sell("SELLER", 0));
			Awaitility.await().until(() -> guest.isDone() && nothing.isDone());
			assertThat(guest).isCompletedWithValue(403);
			assertThat(nothing).isCompletedWithValue(400);
		});
		assertThat(inStock()).isEqualTo(100);
	}

	@Test
	void c8DeliveryThatIsTriedAgainTakesItsLockAnew() {
		assertThat(this.stock.deliver("book", 5)).isEqualTo(105);
		assertThat(this.stock.attempts()).hasSize(3).doesNotHaveDuplicates().isSorted();
		assertThat(inStock()).as("the transactions of the failed attempts were rolled back").isEqualTo(105);
	}

	@Test
	void c9EntryOfTheJournalStaysAndItsLockDoesNot() {
		assertThatIllegalStateException().isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
			this.journal.note("entry");
			assertThat(this.locks.find("journal")).isEmpty();
			throw new IllegalStateException("no sale");
		}));
		assertThat(this.products.existsById("entry")).isTrue();
	}

	@Test
	void priceIsComputedOnceForAllWaitingCallers() {
		String product = "book of " + getClass();
		List<CompletableFuture<Integer>> prices = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			prices.add(CompletableFuture.supplyAsync(() -> this.stock.price(product)));
		}
		prices.forEach((price) -> assertThat(price).succeedsWithin(Patience.EVENTUALLY).isEqualTo(1));
	}

	@Test
	void saleInTheBackgroundIsLocked() {
		List<CompletableFuture<Integer>> sales = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			sales.add(this.stock.sellLater("book", 1));
		}
		sales.forEach((sale) -> assertThat(sale).succeedsWithin(Patience.EVENTUALLY));
		assertThat(inStock()).isEqualTo(90);
	}

	@Test
	void c3ThoughtfulSalesAreNotLostWithoutOpenInView() {
		ExecutorService buyers = Executors.newFixedThreadPool(6);
		List<CompletableFuture<Integer>> sales = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			sales.add(CompletableFuture.supplyAsync(() -> post("SELLER", "thoughtful-sales"), buyers));
		}
		sales.forEach((sale) -> assertThat(sale).succeedsWithin(Patience.EVENTUALLY).isEqualTo(200));
		buyers.shutdown();
		assertThat(inStock()).isEqualTo(80);
	}

	@Test
	void inventoryIsTakenUnderItsLock() {
		int before = this.stock.inventories();
		Awaitility.await().until(() -> this.stock.inventories() > before + 1);
	}

	@Test
	@WithMockUser(roles = "SELLER")
	void methodOfARepositoryIsLocked() {
		whileHeld("catalogue", () -> assertThatExceptionOfType(LockBusyException.class)
			.isThrownBy(() -> this.products.findByStockLessThan(101)));
		assertThat(this.products.findByStockLessThan(101)).hasSize(1);
	}

	@Test
	@WithMockUser(roles = "GUEST")
	void c7CallerThatMayNotUseARepositoryDoesNotAskForItsLock() {
		whileHeld("catalogue", () -> assertThatExceptionOfType(AccessDeniedException.class)
			.isThrownBy(() -> this.products.findByStockLessThan(101)));
	}

	@Test
	void operatorSeesTheLock() {
		whileHeld("stock:book", () -> {
			assertThat(this.mvc.get().uri("/actuator/dlocks?key=stock:book").with(user("me"))).hasStatusOk()
				.bodyText()
				.contains("stock:book");
			assertThat(this.mvc.get().uri("/actuator/health/dlock").with(user("me"))).hasStatusOk();
		});
	}

}
