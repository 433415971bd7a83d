package io.dlock.benchmarks.aspect;

import java.util.concurrent.TimeUnit;

import org.aopalliance.intercept.MethodInterceptor;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import io.dlock.LockSettings;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;

/**
 * A call without a proxy, through a proxy that does nothing, and under a lock in memory.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class AspectBenchmark {

	private final Orders plain = new Orders();

	private final Orders proxied = proxied();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());

	private final AnnotationConfigApplicationContext context = context();

	private final Orders locked = this.context.getBean(Orders.class);

	private long id;

	private static Orders proxied() {
		ProxyFactory factory = new ProxyFactory(new Orders());
		factory.setProxyTargetClass(true);
		factory.addAdvice((MethodInterceptor) (invocation) -> invocation.proceed());
		return (Orders) factory.getProxy();
	}

	private AnnotationConfigApplicationContext context() {
		DistributedLockedBeanPostProcessor postProcessor = new DistributedLockedBeanPostProcessor(() -> this.registry);
		postProcessor.setProxyTargetClass(true);
		AnnotationConfigApplicationContext created = new AnnotationConfigApplicationContext();
		created.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
		created.registerBean(Orders.class);
		created.refresh();
		return created;
	}

	/**
	 * The holder of a lock has the name of its thread. JMH's has 72 characters.
	 */
	@Setup
	public void nameThread() {
		Thread.currentThread().setName("http-nio-8080-exec-1");
	}

	@TearDown
	public void close() {
		this.context.close();
		this.registry.close();
	}

	private long nextId() {
		return ++this.id & 1023;
	}

	@Benchmark
	public long plainCall() {
		return this.plain.unlocked(nextId());
	}

	@Benchmark
	public long noOpProxy() {
		return this.proxied.unlocked(nextId());
	}

	@Benchmark
	public long lockedByFixedKey() {
		return this.locked.lockedByFixedKey(nextId());
	}

	@Benchmark
	public long lockedByArgument() {
		return this.locked.lockedByArgument(nextId());
	}

}
