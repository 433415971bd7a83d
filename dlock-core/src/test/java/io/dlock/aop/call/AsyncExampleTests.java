package io.dlock.aop.call;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.ReactiveLockContext;
import io.dlock.aop.AbstractDistributedLockedTests;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The examples of {@code docs/async.md}.
 */
@Timeout(60)
public class AsyncExampleTests extends AbstractDistributedLockedTests {

	static class Bank {

		CompletableFuture<String> charge(String order, long token) {
			return CompletableFuture.supplyAsync(() -> "paid " + order + " under a token: " + (token > 0));
		}

	}

	static class Carrier {

		Mono<String> fetch(String order, long token) {
			return Mono.fromSupplier(() -> "shipped " + order + " under a token: " + (token > 0));
		}

	}

	static class Orders {

		private final Bank bank = new Bank();

		private final Carrier carrier = new Carrier();

		@DistributedLocked(name = "orders", key = "#order")
		CompletableFuture<String> pay(String order) {
			long token = LockHandle.current().orElseThrow().token();
			return this.bank.charge(order, token);
		}

		@DistributedLocked(name = "orders", key = "#order")
		Mono<String> ship(String order) {
			return ReactiveLockContext.currentHandle().flatMap((handle) -> this.carrier.fetch(order, handle.token()));
		}

	}

	private final Orders orders = bean(Orders.class);

	@AfterEach
	void nothingIsLeft() {
		assertThat(this.store.find("orders:42")).isEmpty();
	}

	@Test
	void completableFuture() {
		assertThat(this.orders.pay("42").orTimeout(20, TimeUnit.SECONDS).join())
			.isEqualTo("paid 42 under a token: true");
	}

	@Test
	void mono() {
		assertThat(this.orders.ship("42").block()).isEqualTo("shipped 42 under a token: true");
	}

	@Test
	void withoutTheAnnotation() {
		Bank bank = new Bank();
		CompletableFuture<String> result = this.registry.acquireAsync(LockRequest.of("orders:42"))
			.thenComposeAsync((handle) -> CompletableFuture.completedFuture(handle)
				.thenCompose((held) -> bank.charge("42", held.token()))
				.whenComplete((receipt, failure) -> handle.releaseAsync()));
		assertThat(result.join()).startsWith("paid 42");
		Awaitility.await().until(() -> this.store.find("orders:42").isEmpty());
	}

}
