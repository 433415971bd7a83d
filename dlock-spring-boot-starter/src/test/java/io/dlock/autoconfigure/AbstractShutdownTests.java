package io.dlock.autoconfigure;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;

import org.awaitility.Awaitility;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.autoconfigure.jdbc.DlockJdbcAutoConfiguration;
import io.dlock.store.LockStore;
import io.dlock.store.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application that is closed while an executor has queued work.
 */
abstract class AbstractShutdownTests {

	static final List<String> TASKS = List.of("a", "b", "c", "d");

	final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(LifecycleAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
				TaskSchedulingAutoConfiguration.class, DlockAutoConfiguration.class, DlockJdbcAutoConfiguration.class))
		.withPropertyValues("dlock.backend=memory", "spring.task.execution.pool.core-size=1");

	/**
	 * The locks of an application that is gone.
	 */
	final LockStore store = new MemoryLockStore();

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class Asynchronous {

		@Bean
		Work work(Progress progress) {
			return new Work(progress);
		}

	}

	static class Progress {

		final CountDownLatch begun = new CountDownLatch(1);

		final CountDownLatch closing = new CountDownLatch(1);

		final List<String> done = new CopyOnWriteArrayList<>();

	}

	static class Work {

		private final Progress progress;

		Work(Progress progress) {
			this.progress = progress;
		}

		@Async
		@DistributedLocked(key = "#task", name = "task")
		public void run(String task) throws InterruptedException {
			this.progress.begun.countDown();
			this.progress.closing.await();
			LockHandle.current().orElseThrow().assertHeld();
			this.progress.done.add(task);
		}

	}

	final Progress closeWithQueuedWork(ApplicationContextRunner application) {
		return closeWithQueuedWork(application, (context) -> !context.isRunning());
	}

	/**
	 * Close an application that has begun the first of its tasks.
	 * @param goOn when the tasks may go on
	 * @return what was done
	 */
	final Progress closeWithQueuedWork(ApplicationContextRunner application,
			Predicate<ConfigurableApplicationContext> goOn) {
		Progress progress = new Progress();
		application.withUserConfiguration(Asynchronous.class)
			.withBean(Progress.class, () -> progress)
			.withBean(LockStore.class, () -> this.store)
			.run((context) -> {
				Work work = context.getBean(Work.class);
				for (String task : TASKS) {
					work.run(task);
				}
				progress.begun.await();
				CompletableFuture<Void> closed = CompletableFuture.runAsync(context::close);
				Awaitility.await().until(() -> goOn.test(context));
				progress.closing.countDown();
				closed.get();
			});
		return progress;
	}

	final void free() {
		assertThat(TASKS).allMatch((task) -> this.store.find(task).isEmpty());
	}

	static ThreadPoolTaskExecutor executor(int awaitSeconds) {
		ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
		executor.setCorePoolSize(1);
		executor.setWaitForTasksToCompleteOnShutdown(true);
		executor.setAwaitTerminationSeconds(awaitSeconds);
		return executor;
	}

}
