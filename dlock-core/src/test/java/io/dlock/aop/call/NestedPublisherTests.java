package io.dlock.aop.call;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import io.dlock.DistributedLocked;
import io.dlock.LockBusyException;
import io.dlock.LockContext;
import io.dlock.LockHandle;
import io.dlock.ReactiveLockContext;
import io.dlock.aop.AbstractDistributedLockedTests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Methods of two beans that lock one key inside one reactive chain.
 */
@Timeout(60)
public class NestedPublisherTests extends AbstractDistributedLockedTests {

	static class Orders {

		@DistributedLocked("#key")
		public <T> Mono<T> pay(String key, Supplier<Mono<T>> body) {
			return body.get();
		}

	}

	static class Stock {

		@DistributedLocked("#key")
		public <T> Mono<T> reserve(String key, Supplier<Mono<T>> body) {
			return body.get();
		}

		@DistributedLocked("#key")
		public String reserveNow(String key) {
			return "reserved";
		}

		@DistributedLocked("#key")
		public CompletableFuture<String> reserveLater(String key) {
			return CompletableFuture.completedFuture("reserved");
		}

	}

	private final Orders orders = orders();

	private final Stock stock = this.context.getBean(Stock.class);

	private Orders orders() {
		this.context.registerBean(Stock.class);
		return bean(Orders.class);
	}

	@AfterEach
	void nothingIsLeft() {
		Awaitility.await().untilAsserted(() -> assertThat(this.store.find("key")).isEmpty());
	}

	@Test
	void methodsOfTwoBeansShareTheLockOfTheirChain() {
		Mono<Long> token = ReactiveLockContext.currentHandle()
			.map(LockHandle::token)
			.publishOn(Schedulers.boundedElastic());
		Mono<List<Long>> innermost = token.flatMap((middle) -> this.orders.pay("key", () -> token)
			.map((inner) -> List.of(middle, inner))
			.doOnNext((tokens) -> assertThat(this.store.find("key")).as("held further out").isPresent()));
		List<Long> tokens = this.orders
			.pay("key", () -> token.flatMap((outer) -> this.stock.reserve("key", () -> innermost)
				.map((inner) -> List.of(outer, inner.get(0), inner.get(1)))))
			.block();
		assertThat(tokens).hasSize(3).containsOnly(tokens.get(0));
		assertThat(this.store.find("key")).isEmpty();
	}

	static Stream<CallInside> calls() {
		return Stream.of((stock) -> Mono.fromCallable(() -> stock.reserveNow("key")),
				(stock) -> Mono.fromFuture(() -> stock.reserveLater("key")));
	}

	/**
	 * The lock is in the context of the chain, and no thread of an operator holds it.
	 */
	@ParameterizedTest
	@MethodSource("calls")
	void callThatDoesNotSeeTheContextFindsTheLockBusy(CallInside call) {
		assertThat(catchThrowable(this.orders.pay("key", () -> call.in(this.stock))::block))
			.isInstanceOf(LockBusyException.class);
	}

	@ParameterizedTest
	@MethodSource("calls")
	void boundHandleCarriesTheLockOver(CallInside call) {
		Mono<String> nested = ReactiveLockContext.currentHandle().map((handle) -> {
			try (LockContext.Binding binding = LockContext.bind(handle)) {
				return call.in(this.stock).toFuture();
			}
		}).flatMap(Mono::fromFuture);
		assertThat(this.orders.pay("key", () -> nested).block()).isEqualTo("reserved");
	}

	/**
	 * A call of a locked method inside a reactive chain.
	 */
	@FunctionalInterface
	interface CallInside {

		Mono<String> in(Stock stock);

	}

}
