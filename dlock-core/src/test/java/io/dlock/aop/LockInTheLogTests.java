package io.dlock.aop;

import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What a locked method logs shows its lock.
 */
class LockInTheLogTests extends AbstractDistributedLockedTests {

	static class Orders {

		@DistributedLocked(name = "orders", key = "#customer", reason = "take an order")
		public <T extends @Nullable Object> T take(String customer, Supplier<T> body) {
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
	void afterANestedMethodTheOuterOneIsShownAgain() {
		MDC.put("dlock.token", "of somebody else");
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
		assertThat(shown())
			.containsExactlyInAnyOrderEntriesOf(Map.of("dlock.token", "of somebody else", "customer", "7"));
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
	void nothingIsShownWhenSwitchedOff() {
		this.context.getBean(DistributedLockedBeanPostProcessor.class).setMdc(false);
		assertThat(this.orders.take("7", LockInTheLogTests::shown)).isEmpty();
	}

}
