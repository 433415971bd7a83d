package io.dlock.aop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.Test;

import io.dlock.DistributedLocked;
import io.dlock.LockEvent;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The names of locked methods in events.
 */
class LockNameTests extends AbstractDistributedLockedTests {

	static class Orders {

		@DistributedLocked(key = "#id", name = "${orders.tenant}")
		public void pay(String id) {
		}

		@DistributedLocked(key = "#id")
		public void cancel(String id) {
		}

	}

	@Test
	void r56NameIsThatOfTheAnnotationOrTheMethodAndNeverTheKey() {
		List<LockEvent> events = new CopyOnWriteArrayList<>();
		this.registry.addListener(events::add);
		Orders orders = bean(Orders.class);
		orders.pay("1");
		orders.pay("2");
		orders.cancel("1");
		assertThat(events).filteredOn(LockEvent.Acquired.class::isInstance)
			.extracting(LockEvent::key)
			.containsExactly("acme:1", "acme:2", "1");
		assertThat(events).filteredOn(LockEvent.Acquired.class::isInstance)
			.extracting(LockEvent::name)
			.containsExactly("acme", "acme", "Orders.cancel");
	}

}
