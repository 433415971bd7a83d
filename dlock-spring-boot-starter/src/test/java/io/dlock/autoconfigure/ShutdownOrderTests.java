package io.dlock.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import io.dlock.DistributedLocked;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockListener;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * The end of an application whose work is not done yet.
 */
@ExtendWith(OutputCaptureExtension.class)
class ShutdownOrderTests extends AbstractShutdownTests {

	private static final String AWAIT_TERMINATION = "spring.task.execution.shutdown.await-termination";

	@Test
	void c6QueuedWorkThatIsAwaitedGetsItsLocks(CapturedOutput output) {
		Progress progress = closeWithQueuedWork(this.runner.withPropertyValues("dlock.shutdown-timeout=100ms",
				AWAIT_TERMINATION + "=true", AWAIT_TERMINATION + "-period=60s"));
		assertThat(progress.done).containsExactlyElementsOf(TASKS);
		free();
		assertThat(output).doesNotContain("ERROR").doesNotContain("WARN");
	}

	/**
	 * Spring itself does not wait then.
	 */
	@Test
	void c6QueuedWorkThatIsAwaitedWithoutAPeriodHasWhatIsLeftOfTheShutdownTimeout() {
		Progress progress = closeWithQueuedWork(
				this.runner.withPropertyValues("dlock.shutdown-timeout=30s", AWAIT_TERMINATION + "=true"),
				(context) -> !context.getBean(LeaseLockRegistry.class).isRunning());
		assertThat(progress.done).containsExactlyElementsOf(TASKS);
		free();
	}

	/**
	 * An executor of the application's own that was created before the registry.
	 */
	@Test
	void c6ExecutorIsDestroyedBeforeTheRegistryWheneverItWasCreated() {
		Progress progress = closeWithQueuedWork(this.runner.withPropertyValues("dlock.shutdown-timeout=100ms")
			.withBean("own", Executor.class, () -> executor(60)));
		assertThat(progress.done).containsExactlyElementsOf(TASKS);
		free();
	}

	/**
	 * Spring interrupts the tasks of an executor that is not told to wait.
	 */
	@Test
	void c6WorkThatIsNotAwaitedEndsAndItsLockIsFree(CapturedOutput output) {
		Progress progress = closeWithQueuedWork(this.runner.withPropertyValues("dlock.shutdown-timeout=100ms",
				"spring.lifecycle.timeout-per-shutdown-phase=100ms"), (context) -> !context.isActive());
		assertThat(progress.done).hasSizeLessThan(TASKS.size());
		Awaitility.await().untilAsserted(this::free);
		// otherwise it may be in the output of the next test
		Awaitility.await().until(() -> output.getAll().contains("Unexpected exception occurred invoking async"));
	}

	/**
	 * An executor without a termination timeout.
	 */
	private static final class Unawaited extends ThreadPoolTaskExecutor {

		private final ThreadPoolExecutor threads;

		Unawaited(ThreadPoolExecutor threads) {
			this.threads = threads;
			setWaitForTasksToCompleteOnShutdown(true);
		}

		@Override
		public ThreadPoolExecutor getThreadPoolExecutor() {
			return this.threads;
		}

		@Override
		public void afterPropertiesSet() {
		}

		@Override
		public void destroy() {
		}

	}

	/**
	 * The thread is interrupted while it awaits the second one.
	 */
	@Test
	void c6ExecutorsShareTheShutdownTimeoutAndTheInterruptIsKept() throws InterruptedException {
		List<Long> limits = new ArrayList<>();
		ThreadPoolExecutor first = mock();
		given(first.awaitTermination(anyLong(), eq(TimeUnit.NANOSECONDS))).willAnswer((call) -> {
			limits.add(call.getArgument(0));
			long begin = System.nanoTime();
			while (System.nanoTime() == begin) {
				Thread.onSpinWait();
			}
			return false;
		});
		ThreadPoolExecutor second = mock();
		given(second.awaitTermination(anyLong(), eq(TimeUnit.NANOSECONDS))).willAnswer((call) -> {
			limits.add(call.getArgument(0));
			throw new InterruptedException();
		});
		try (LeaseLockRegistry registry = new LeaseLockRegistry(this.store, LockSettings.defaults());
				GenericApplicationContext context = new GenericApplicationContext()) {
			ShutdownOrder order = new ShutdownOrder(context.getBeanFactory());
			context.registerBean("first", Unawaited.class, () -> new Unawaited(first));
			context.registerBean("second", Unawaited.class, () -> new Unawaited(second));
			context.refresh();
			order.onApplicationEvent(new ContextClosedEvent(context));
			order.postProcessBeforeDestruction(registry, "registry");
			assertThat(Thread.interrupted()).isTrue();
			assertThat(limits).hasSize(2);
			assertThat(limits.get(1)).isLessThan(limits.get(0));
		}
	}

	@Test
	void c6HolderThatDoesNotEndIsWaitedForOnce() {
		this.runner.withBean(LockStore.class, () -> this.store)
			.withPropertyValues("dlock.shutdown-timeout=100ms")
			.run((context) -> {
				LockHandle held = context.getBean(LockRegistry.class).acquireAsync(LockRequest.of("a")).get();
				context.close();
				assertThat(held.isValid()).isFalse();
				free();
			});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

		@Bean
		LastLifecycle lastLifecycle(Jobs jobs) {
			return new LastLifecycle(jobs);
		}

	}

	static class Jobs {

		private final AtomicInteger runs = new AtomicInteger();

		AtomicInteger runs() {
			return this.runs;
		}

		@Scheduled(fixedDelay = 1)
		@DistributedLocked(key = "'job'", name = "job")
		public void run() {
			this.runs.incrementAndGet();
		}

	}

	/**
	 * Stops after the registry, and not before a scheduler that goes on has run again.
	 */
	static class LastLifecycle implements SmartLifecycle {

		private final Jobs jobs;

		private boolean running;

		LastLifecycle(Jobs jobs) {
			this.jobs = jobs;
		}

		@Override
		public void start() {
			this.running = true;
		}

		@Override
		public void stop() {
			int before = this.jobs.runs().get();
			Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> this.jobs.runs().get() > before + 1);
			this.running = false;
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

		@Override
		public int getPhase() {
			return 0;
		}

	}

	@Test
	void c15ScheduledMethodsAreQuietWhileTheApplicationStops(CapturedOutput output) {
		this.runner.withUserConfiguration(Scheduling.class)
			.withPropertyValues("spring.task.scheduling.shutdown.await-termination=true",
					"spring.task.scheduling.shutdown.await-termination-period=30s")
			.run((context) -> {
				Jobs jobs = context.getBean(Jobs.class);
				Awaitility.await().until(() -> jobs.runs().get() > 0);
				context.close();
				assertThat(context.getBeanFactory().containsSingleton("jobs")).isFalse();
			});
		assertThat(output).doesNotContain("ERROR").doesNotContain("WARN");
	}

	static class Audit implements LockListener, AutoCloseable {

		private final List<String> done;

		Audit(List<String> done) {
			this.done = done;
		}

		@Override
		public void onEvent(LockEvent event) {
			if (event instanceof LockEvent.Lost) {
				this.done.add("lost");
			}
		}

		@Override
		public void close() {
			this.done.add("closed");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LockedConfiguration {

		@DistributedLocked("'nightly'")
		public void nightly() {
		}

		@Bean
		Audit audit(Progress progress) {
			return new Audit(progress.done);
		}

	}

	@Test
	void listenerOfAConfigurationWithALockedMethodIsToldOfTheLastLoss() {
		Progress progress = new Progress();
		this.runner.withBean(Progress.class, () -> progress)
			.withUserConfiguration(LockedConfiguration.class)
			.withPropertyValues("dlock.shutdown-timeout=100ms")
			.run((context) -> {
				context.getBean(LockRegistry.class).acquireAsync(LockRequest.of("a")).get();
				context.close();
			});
		assertThat(progress.done).containsExactly("lost", "closed");
	}

}
