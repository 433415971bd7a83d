package io.dlock.aop;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.memory.MemoryLockStore;

public abstract class AbstractDistributedLockedTests {

	/**
	 * An asynchronous request that does not wait fails if no thread of the engine serves
	 * it within this time.
	 */
	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(5);

	protected final MemoryLockStore store = new MemoryLockStore();

	protected final LeaseLockRegistry registry;

	protected final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	protected AbstractDistributedLockedTests() {
		this(COMMAND_TIMEOUT);
	}

	/**
	 * Create a registry for leases that are short.
	 * @param commandTimeout at most a quarter of each lease that is renewed
	 */
	protected AbstractDistributedLockedTests(Duration commandTimeout) {
		this.registry = new LeaseLockRegistry(this.store,
				LockSettings.builder()
					.commandTimeout(commandTimeout)
					.waitTime(Duration.ZERO)
					.shutdownTimeout(Duration.ZERO)
					.build());
	}

	@AfterEach
	void close() {
		this.context.close();
		this.registry.close();
	}

	protected <T> T bean(Class<T> type) {
		DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(() -> this.registry);
		configure(postProcessor);
		this.context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("test", Map.of("orders.lease", "20s", "orders.tenant", "acme")));
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
		this.context.registerBean(LockRegistry.class, () -> this.registry);
		this.context.registerBean(type);
		this.context.refresh();
		return this.context.getBean(type);
	}

	protected void configure(DistributedLockedBeanPostProcessor postProcessor) {
	}

	protected void holdElsewhere(String key) {
		this.store.acquire(new AcquireCommand(key, "elsewhere", Duration.ofSeconds(30), "another instance", ""));
	}

}
