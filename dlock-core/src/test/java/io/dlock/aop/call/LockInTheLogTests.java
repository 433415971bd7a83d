package io.dlock.aop.call;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.aop.AbstractDistributedLockedTests;
import io.dlock.aop.DistributedLockedBeanPostProcessor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The log entries of a locked method show its lock.
 */
public class LockInTheLogTests extends AbstractDistributedLockedTests {

	static class Orders {

		@DistributedLocked(name = "orders", key = "#customer", reason = "take an order")
		public <T extends @Nullable Object> T take(String customer, Supplier<T> body) {
			return body.get();
		}

		@DistributedLocked(name = "orders", key = "#customer", waitTime = "20s")
		public <T> CompletableFuture<T> takeLater(String customer, Supplier<T> body) {
			return CompletableFuture.completedFuture(body.get());
		}

		@DistributedLocked(name = "orders", key = "#customer", waitTime = "20s", reason = "take an order")
		public <T> Mono<T> takeReactively(String customer, Supplier<Mono<T>> body) {
			return body.get();
		}

		@DistributedLocked("'count'")
		public <T extends @Nullable Object> T count(Supplier<T> body) {
			return body.get();
		}

	}

	private final Orders orders = bean(Orders.class);

	@AfterEach
	void clear() {
		MDC.clear();
	}

	private static Map<String, String> shown() {
		Map<String, String> shown = MDC.getCopyOfContextMap();
		return (shown != null) ? shown : Map.of();
	}

	private static String token() {
		return Long.toString(LockHandle.current().orElseThrow().token());
	}

	@Test
	void r15MethodShowsItsTokenAndItsReason() {
		this.orders.take("7", () -> {
			assertThat(shown())
				.containsExactlyInAnyOrderEntriesOf(Map.of("dlock.token", token(), "dlock.reason", "take an order"));
			return null;
		});
		this.orders.count(() -> {
			assertThat(shown()).containsEntry("dlock.reason", "Orders.count");
			return null;
		});
		assertThat(shown()).isEmpty();
	}

	@Test
	void r57KeyIsNotShown() {
		Map<String, String> shown = this.orders.take("jane.doe@example.com", LockInTheLogTests::shown);
		assertThat(shown.toString()).doesNotContain("jane");
	}

	@Test
	void outerLockIsShownAgainAfterNestedMethod() {
		MDC.put("dlock.token", "of another");
		MDC.put("customer", "7");
		this.orders.take("7", () -> {
			Map<String, String> outer = shown();
			Map<String, String> inner = this.orders.count(() -> {
				assertThat(shown()).containsEntry("dlock.token", token());
				return shown();
			});
			assertThat(inner).isNotEqualTo(outer).containsEntry("customer", "7");
			this.orders.take("7", () -> {
				assertThat(shown()).as("reentrant: the same token").isEqualTo(outer);
				return null;
			});
			assertThat(shown()).isEqualTo(outer);
			return null;
		});
		assertThat(shown()).containsExactlyInAnyOrderEntriesOf(Map.of("dlock.token", "of another", "customer", "7"));
	}

	@Test
	void methodThatFailsIsNotShownAnyMore() {
		assertThatIllegalStateException().isThrownBy(() -> this.orders.take("7", () -> {
			throw new IllegalStateException("no stock");
		}));
		assertThat(shown()).isEmpty();
	}

	@Test
	void lockWithoutAnnotationShowsNothingAndLeavesTheMethodShown() {
		this.registry.execute(LockRequest.of("other"), (handle) -> {
			assertThat(shown()).isEmpty();
			return null;
		});
		this.orders.take("7", () -> {
			Map<String, String> outer = shown();
			return this.registry.execute(LockRequest.of("other"), (handle) -> {
				assertThat(shown()).isEqualTo(outer);
				return null;
			});
		});
	}

	@Test
	void bodyOfAStageShowsItsLock() {
		MDC.put("dlock.reason", "of the caller");
		Map<String, String> inside = this.orders.takeLater("7", () -> {
			assertThat(shown()).containsEntry("dlock.token", token());
			return shown();
		}).join();
		assertThat(inside).containsEntry("dlock.reason", "Orders.takeLater");
		assertThat(shown()).as("on the calling thread").isEqualTo(Map.of("dlock.reason", "of the caller"));
		assertThat(catchThrowable(this.orders.takeLater("7", () -> {
			throw new IllegalStateException("no stock");
		})::join)).hasRootCauseMessage("no stock");
	}

	@Test
	void assemblyOfAPublisherShowsItsLock() {
		Map<String, String> inside = this.orders.takeReactively("7", () -> Mono.just(shown())).block();
		assertThat(inside).containsEntry("dlock.reason", "take an order").containsKey("dlock.token");
		assertThat(shown()).isEmpty();
	}

	@Test
	void operatorsShowTheLockIfContextIsPropagated() {
		Hooks.enableAutomaticContextPropagation();
		try {
			List<Map<String, String>> inside = Collections.synchronizedList(new ArrayList<>());
			Map<String, String> behind = this.orders
				.takeReactively("7",
						() -> Mono.delay(Duration.ofMillis(5))
							.doOnNext((tick) -> inside.add(shown()))
							.publishOn(Schedulers.parallel())
							.doOnNext((tick) -> inside.add(shown())))
				.map((tick) -> shown())
				.block();
			assertThat(inside).hasSize(2)
				.allSatisfy((entries) -> assertThat(entries).containsEntry("dlock.reason", "take an order")
					.containsKey("dlock.token"));
			assertThat(behind).as("behind the method").isEmpty();
			Map<String, String> outer = this.orders.count(() -> {
				this.orders.takeReactively("7", () -> Mono.just("done")).block();
				return shown();
			});
			assertThat(outer).containsEntry("dlock.reason", "Orders.count");
			assertThat(shown()).isEmpty();
		}
		finally {
			Hooks.disableAutomaticContextPropagation();
		}
	}

	/**
	 * Also before the first call of a reactive method.
	 */
	@Test
	void workOfTheMethodOnOtherThreadsShowsTheLockIfContextIsPropagated() {
		Map<String, String> elsewhere = this.orders.take("7", () -> {
			CompletableFuture<Map<String, String>> seen = new CompletableFuture<>();
			CompletableFuture.runAsync(new ContextPropagatingTaskDecorator().decorate(() -> seen.complete(shown())))
				.join();
			return seen.join();
		});
		assertThat(elsewhere).containsEntry("dlock.reason", "take an order").containsKey("dlock.token");
		assertThat(CompletableFuture.supplyAsync(LockInTheLogTests::shown).join()).isEmpty();
	}

	@Test
	void nothingIsShownWhenSwitchedOff() {
		this.context.getBean(DistributedLockedBeanPostProcessor.class).setMdc(false);
		assertThat(this.orders.takeLater("7", LockInTheLogTests::shown).join()).isEmpty();
		assertThat(this.orders.takeReactively("7", () -> Mono.just(shown())).block()).isEmpty();
		assertThat(this.orders.take("7", LockInTheLogTests::shown)).isEmpty();
	}

}
