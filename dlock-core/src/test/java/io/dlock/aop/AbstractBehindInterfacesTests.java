package io.dlock.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;

/**
 * An annotated interface, and beans that may be anything behind it.
 */
abstract class AbstractBehindInterfacesTests extends AbstractProxiedBeansTests {

	private final List<LockHandle> heldElsewhere = new ArrayList<>();

	@AfterEach
	void releaseHeldElsewhere() {
		this.heldElsewhere.forEach(LockHandle::release);
	}

	final <T> T bean(Class<T> type, Object bean) {
		start(true, (beans) -> beans.registerBean("bean", Object.class, () -> bean));
		return this.context.getBean("bean", type);
	}

	final void holdElsewhere(String key) {
		this.heldElsewhere.add(CompletableFuture.supplyAsync(() -> this.registry.acquire(key)).join());
	}

	@FunctionalInterface
	interface Client {

		@DistributedLocked(name = "clients", key = "#order")
		List<String> send(String order);

		@DistributedLocked(name = "clients", key = "#order", fallback = "instead", waitTime = "0s")
		default List<String> sendOrNot(String order) {
			return held();
		}

		default List<String> instead(String order) {
			return List.of("instead of " + order);
		}

		default List<String> free() {
			return held();
		}

	}

}
