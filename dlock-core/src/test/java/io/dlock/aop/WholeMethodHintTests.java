package io.dlock.aop;

import ch.qos.logback.classic.Level;
import org.junit.jupiter.api.Test;

import io.dlock.DistributedLocked;
import io.dlock.test.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The hint at the start that the arguments of a method have no part in its lock.
 */
class WholeMethodHintTests extends AbstractDistributedLockedTests {

	public static class Orders {

		@DistributedLocked
		public void pay(String order) {
		}

		@DistributedLocked
		public void payAll() {
		}

		@DistributedLocked(name = "orders")
		public void refund(String order) {
		}

		@DistributedLocked(name = "orders", key = "#order")
		public void cancel(String order) {
		}

		@DistributedLocked(keys = "#orders")
		public void cancelAll(String[] orders) {
		}

	}

	@Test
	void methodWithArgumentsAndNeitherKeyNorNameIsToldOnce() {
		try (CapturedLog log = CapturedLog.of(LockedOperationParser.class).from(Level.INFO)) {
			Orders orders = bean(Orders.class);
			orders.pay("1");
			orders.pay("2");
			orders.payAll();
			assertThat(log.messages()).filteredOn((message) -> message.contains("neither key nor name"))
				.singleElement()
				.asString()
				.contains("Orders.pay has", "key = \"#id\"");
		}
	}

}
