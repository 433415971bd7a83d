package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.context.event.ApplicationEventMulticaster;
import org.springframework.context.event.SimpleApplicationEventMulticaster;
import org.springframework.context.support.AbstractApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import io.dlock.DistributedLocked;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockListener;
import io.dlock.LockRegistry;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.engine.LeaseLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The registry ends between what needs it and what it needs.
 */
class ShutdownDependenciesTests extends AbstractShutdownTests {

	static class OwnExecutor implements Executor, DisposableBean {

		private final ObjectProvider<LockRegistry> registry;

		private final Progress progress;

		OwnExecutor(ObjectProvider<LockRegistry> registry, Progress progress) {
			this.registry = registry;
			this.progress = progress;
		}

		@Override
		public void execute(Runnable task) {
			task.run();
		}

		@Override
		public void destroy() {
			this.registry.getObject().execute(LockRequest.of("last"), (handle) -> this.progress.done.add("last"));
		}

	}

	/**
	 * One that hands events to other threads, which come too late here.
	 */
	@Test
	void c6OrderDoesNotDependOnTheThreadsOfEvents() {
		Progress progress = new Progress();
		this.runner.withBean(Progress.class, () -> progress)
			.withBean(OwnExecutor.class)
			.withBean(AbstractApplicationContext.APPLICATION_EVENT_MULTICASTER_BEAN_NAME,
					ApplicationEventMulticaster.class, () -> {
						SimpleApplicationEventMulticaster multicaster = new SimpleApplicationEventMulticaster();
						multicaster.setTaskExecutor((event) -> {
						});
						return multicaster;
					})
			.run(ConfigurableApplicationContext::close);
		assertThat(progress.done).containsExactly("last");
	}

	@Configuration(proxyBeanMethods = false)
	static class LateListener {

		@Bean
		@Lazy
		OwnExecutor own(ObjectProvider<LockRegistry> registry, Progress progress) {
			return new OwnExecutor(registry, progress);
		}

		@Bean
		@Lazy
		LockListener listener(Executor executor) {
			return (event) -> assertThat(executor).isNotNull();
		}

	}

	/**
	 * Both are created after the registry, so that they are destroyed before it.
	 */
	@Test
	void c6ListenerThatNeedsAnExecutorDoesNotEndTheRegistryBeforeIt() {
		Progress progress = new Progress();
		this.runner.withBean(Progress.class, () -> progress)
			.withUserConfiguration(LateListener.class)
			.run(ConfigurableApplicationContext::close);
		assertThat(progress.done).containsExactly("last");
	}

	static class LastWork implements DisposableBean {

		private final LockRegistry registry;

		private final Progress progress;

		LastWork(LockRegistry registry, Progress progress) {
			this.registry = registry;
			this.progress = progress;
		}

		@Override
		public void destroy() {
			this.registry.execute(LockRequest.of("last"), (handle) -> this.progress.done.add("last"));
		}

	}

	static class WorkingListener implements LockListener {

		WorkingListener(LastWork work) {
			assertThat(work).isNotNull();
		}

		@Override
		public void onEvent(LockEvent event) {
		}

	}

	@Test
	void c6ListenerDoesNotEndTheRegistryBeforeABeanThatNeedsIt() {
		Progress progress = new Progress();
		this.runner.withBean(Progress.class, () -> progress)
			.withBean(LastWork.class)
			.withBean(WorkingListener.class)
			.run(ConfigurableApplicationContext::close);
		assertThat(progress.done).containsExactly("last");
	}

	/**
	 * Its time is over, as Spring has waited for it.
	 */
	@Test
	void c6ExecutorThatHasATimeOfItsOwnIsAwaitedOnce() {
		CountDownLatch end = new CountDownLatch(1);
		this.runner.withPropertyValues("dlock.shutdown-timeout=5m", "spring.lifecycle.timeout-per-shutdown-phase=100ms")
			.withBean("own", ThreadPoolTaskExecutor.class, () -> executor(1))
			.run((context) -> {
				context.getBean(ThreadPoolTaskExecutor.class).submit(() -> {
					end.await();
					return null;
				});
				assertThat(CompletableFuture.runAsync(context::close)).succeedsWithin(Duration.ofSeconds(30));
			});
		end.countDown();
	}

	static class Locked {

		@DistributedLocked("'last'")
		public void add(Progress progress) {
			progress.done.add("last");
		}

	}

	static class LockedWork implements DisposableBean {

		private final Locked locked;

		private final Progress progress;

		LockedWork(Locked locked, Progress progress) {
			this.locked = locked;
			this.progress = progress;
		}

		@Override
		public void destroy() {
			this.locked.add(this.progress);
		}

	}

	static class ClosedListener implements LockListener, AutoCloseable {

		@Override
		public void onEvent(LockEvent event) {
		}

		@Override
		public void close() {
		}

	}

	/**
	 * The listener is created after the work, so that it is destroyed before it, and the
	 * registry before both.
	 */
	@Test
	void c6RegistryOutlivesLockedBeansWheneverTheyWereCreated() {
		Progress progress = new Progress();
		this.runner.withBean(Progress.class, () -> progress)
			.withBean(Locked.class)
			.withBean(LockedWork.class)
			.withBean(ClosedListener.class)
			.run(ConfigurableApplicationContext::close);
		assertThat(progress.done).containsExactly("last");
	}

	/**
	 * It is created after the work, so that it is destroyed before it.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "memory", "jdbc" })
	void c6SourceThatTheStoreDoesNotUseDoesNotEndTheRegistry(String backend) {
		Progress progress = new Progress();
		this.runner.withBean(Progress.class, () -> progress)
			.withBean(Locked.class)
			.withUserConfiguration(LookedUp.class)
			.withPropertyValues("dlock.backend=" + backend)
			.run(ConfigurableApplicationContext::close);
		assertThat(progress.done).containsExactly("last");
	}

	@Configuration(proxyBeanMethods = false)
	static class LookedUp {

		@Bean
		@Primary
		DataSource used() {
			return source();
		}

		@Bean
		DisposableBean work(ObjectProvider<LockRegistry> registry, Progress progress) {
			return () -> registry.getObject().execute(LockRequest.of("last"), (handle) -> progress.done.add("last"));
		}

		@Bean
		DataSource unused() {
			return source();
		}

		private static DataSource source() {
			HikariDataSource source = new HikariDataSource();
			source.setJdbcUrl("jdbc:h2:mem:unused;DB_CLOSE_DELAY=-1");
			return source;
		}

	}

	static class Source extends HikariDataSource {

		Source(Executor executor) {
			assertThat(executor).isNotNull();
			setJdbcUrl("jdbc:h2:mem:shutdown-order;DB_CLOSE_DELAY=-1");
		}

	}

	/**
	 * The lock is released on a connection that needs the executor.
	 */
	@Test
	void c6ExecutorOfTheConnectionsOutlivesTheRegistry() {
		this.runner.withBean("own", Executor.class, () -> executor(60))
			.withBean(Source.class)
			.withPropertyValues("dlock.backend=jdbc", "dlock.jdbc.pool-size=0", "dlock.shutdown-timeout=100ms")
			.run((context) -> {
				LockHandle held = context.getBean(LockRegistry.class).acquireAsync(LockRequest.of("a")).get();
				context.close();
				assertThat(held.isValid()).isFalse();
			});
		this.runner.withBean("own", Executor.class, () -> executor(60))
			.withBean(Source.class)
			.withPropertyValues("dlock.backend=jdbc")
			.run((context) -> assertThat(context.getBean(LockRegistry.class).find("a")).isEmpty());
	}

	/**
	 * A container of messages, which ends its last work as it is destroyed.
	 */
	static class Container implements SmartLifecycle, DisposableBean {

		private final ObjectProvider<LockRegistry> registry;

		private final Progress progress;

		private final int phase;

		private volatile boolean running;

		Container(ObjectProvider<LockRegistry> registry, Progress progress, int phase) {
			this.registry = registry;
			this.progress = progress;
			this.phase = phase;
		}

		@Override
		public void start() {
			this.running = true;
		}

		@Override
		public void stop() {
			this.running = false;
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

		@Override
		public int getPhase() {
			return this.phase;
		}

		@Override
		public void destroy() {
			try {
				this.registry.getObject().execute(LockRequest.of("last"), (handle) -> this.progress.done.add("last"));
			}
			catch (LockRegistryClosedException ex) {
				this.progress.done.add("closed");
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Containers {

		@Bean
		Container container(ObjectProvider<LockRegistry> registry, Progress progress, Environment environment) {
			return new Container(registry, progress, environment.getRequiredProperty("phase", Integer.class));
		}

	}

	@ParameterizedTest
	@CsvSource({ "1, last", "-1, closed" })
	void c6ContainerThatStopsBeforeTheRegistryIsDestroyedBeforeIt(int after, String done) {
		Progress progress = new Progress();
		this.runner.withBean(Progress.class, () -> progress)
			.withUserConfiguration(Containers.class)
			.withPropertyValues("phase=" + (LeaseLockRegistry.PHASE + after))
			.run(ConfigurableApplicationContext::close);
		assertThat(progress.done).containsExactly(done);
	}

}
