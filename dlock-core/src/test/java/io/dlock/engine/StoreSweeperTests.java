package io.dlock.engine;

import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.beans.DirectFieldAccessor;

import io.dlock.LockSettings;
import io.dlock.engine.lease.StoreSweeper;
import io.dlock.store.LockStore;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link StoreSweeper}, which the timer of a registry calls.
 */
class StoreSweeperTests {

	private final AtomicInteger sweeps = new AtomicInteger();

	@Test
	void r13StoreIsSweptInEachPeriodAndSoonerIfThereIsMore() {
		try (LeaseLockRegistry registry = new LeaseLockRegistry(store(), LockSettings.defaults())) {
			sweepOfNextPeriod(registry).run();
			Awaitility.await().untilAsserted(() -> assertThat(this.sweeps).as("soon").hasValue(2));
			sweepOfNextPeriod(registry).run();
			Awaitility.await().untilAsserted(() -> assertThat(this.sweeps).as("after a failure").hasValue(3));
			assertThat(sweepOfNextPeriod(registry)).isNotNull();
		}
	}

	/**
	 * The first sweep leaves something, and the second fails.
	 */
	private LockStore store() {
		LockStore memory = new MemoryLockStore();
		return (LockStore) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { LockStore.class },
				(proxy, method, args) -> method.getName().equals("sweep") ? sweep() : method.invoke(memory, args));
	}

	private boolean sweep() {
		if (this.sweeps.incrementAndGet() == 2) {
			throw new StoreException(Effect.NONE, false, "no answer", null);
		}
		return this.sweeps.get() == 1;
	}

	private static Runnable sweepOfNextPeriod(LeaseLockRegistry registry) {
		ScheduledThreadPoolExecutor timer = (ScheduledThreadPoolExecutor) Objects
			.requireNonNull(new DirectFieldAccessor(registry.threads()).getPropertyValue("timer"));
		Runnable next = Awaitility.await()
			.until(timer.getQueue()::peek,
					(task) -> task instanceof Delayed planned && planned.getDelay(TimeUnit.MINUTES) > 15);
		timer.remove(next);
		return next;
	}

}
