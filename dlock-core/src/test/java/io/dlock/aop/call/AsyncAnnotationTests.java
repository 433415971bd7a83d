package io.dlock.aop.call;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockInterruptedException;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.OnLost;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.aop.PostProcessors;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.ForcedLoss;
import io.dlock.test.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * R49: the lock of an {@code @Async} method is taken by the thread that does the work,
 * and held until the work is done.
 */
@Timeout(60)
public class AsyncAnnotationTests {

	static class Work {

		final CompletableFuture<String> work = new CompletableFuture<>();

		private final FutureTask<String> task = new FutureTask<>(() -> "never run");

		private final CountDownLatch working = new CountDownLatch(1);

		private final FutureTask<String> blocked = new FutureTask<>(() -> {
			this.working.countDown();
			new CountDownLatch(1).await();
			return "never done";
		});

		private final CountDownLatch started = new CountDownLatch(1);

		private volatile @Nullable Thread thread;

		private volatile @Nullable LockHandle handle;

		@Async
		@DistributedLocked(key = "'key'", waitTime = "20s")
		public CompletableFuture<String> goingOn() {
			started();
			return this.work;
		}

		@Async
		@DistributedLocked(key = "'key'", waitTime = "20s")
		public CompletableFuture<String> done() {
			started();
			return CompletableFuture.completedFuture("done");
		}

		@Async
		@DistributedLocked(key = "'key'", waitTime = "20s")
		public Future<String> future() {
			started();
			return this.work;
		}

		@Async
		@DistributedLocked(key = "'key'", waitTime = "20s")
		public CompletableFuture<Void> returningNull() {
			started();
			return null;
		}

		@Async
		@DistributedLocked(key = "'key'", onLost = OnLost.INTERRUPT)
		public Future<String> losing() {
			started();
			return this.task;
		}

		@Async
		@DistributedLocked(key = "'key'", onLost = OnLost.INTERRUPT)
		public Future<String> interruptible() {
			started();
			return this.task;
		}

		@Async
		@DistributedLocked(key = "'key'", onLost = OnLost.INTERRUPT)
		public Future<String> blocking() {
			started();
			return this.blocked;
		}

		private void started() {
			this.thread = Thread.currentThread();
			this.handle = LockHandle.current().orElseThrow();
			this.started.countDown();
		}

		public CompletableFuture<String> getWork() {
			return this.work;
		}

		public FutureTask<String> getTask() {
			return this.task;
		}

		public CountDownLatch getWorking() {
			return this.working;
		}

		public FutureTask<String> getBlocked() {
			return this.blocked;
		}

		public CountDownLatch getStarted() {
			return this.started;
		}

		public @Nullable Thread getThread() {
			return this.thread;
		}

		public @Nullable LockHandle getHandle() {
			return this.handle;
		}

	}

	@Async
	static class AsynchronousClass {

		@DistributedLocked("'key'")
		public CompletableFuture<String> thread() {
			return CompletableFuture.completedFuture(Thread.currentThread().getName());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(proxyTargetClass = true)
	static class Config {

		/** The state of the first thread that has done its task. */
		private final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();

		@Bean
		static DistributedLockedBeanPostProcessor distributedLockedBeanPostProcessor(
				org.springframework.beans.factory.ObjectProvider<LockRegistry> registry) {
			DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(registry::getObject);
			return postProcessor;
		}

		@Bean
		MemoryLockStore lockStore() {
			return new MemoryLockStore();
		}

		@Bean
		LeaseLockRegistry lockRegistry(MemoryLockStore store) {
			return new LeaseLockRegistry(store,
					LockSettings.builder()
						.commandTimeout(Duration.ofSeconds(5))
						.shutdownTimeout(Duration.ZERO)
						.build());
		}

		@Bean
		ThreadPoolTaskExecutor taskExecutor() {
			ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
			executor.setThreadNamePrefix("async-");
			executor.setTaskDecorator((task) -> () -> {
				task.run();
				this.interrupted.complete(Thread.currentThread().isInterrupted());
			});
			return executor;
		}

		@Bean
		AsynchronousClass asynchronousClass() {
			return new AsynchronousClass();
		}

		@Bean
		Work work() {
			return new Work();
		}

	}

	private AnnotationConfigApplicationContext context;

	private Work work;

	private MemoryLockStore store;

	@BeforeEach
	void start() {
		this.context = new AnnotationConfigApplicationContext(Config.class);
		this.work = this.context.getBean(Work.class);
		this.store = this.context.getBean(MemoryLockStore.class);
	}

	@AfterEach
	void nothingIsLeft() {
		Awaitility.await().until(this::isFree);
		this.context.close();
	}

	private boolean isFree() {
		return this.store.find("key").isEmpty();
	}

	private void assertHeldUntilTheWorkIsDone(Future<String> result) throws Exception {
		this.work.getStarted().await();
		assertThat(this.work.getThread().getName()).startsWith("async-");
		assertThat(this.work.getHandle().isValid()).isTrue();
		assertThat(isFree()).isFalse();
		assertThat(result.isDone()).isFalse();
		this.work.getWork().complete("done");
		assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(isFree()).isTrue();
	}

	@Test
	void r49LockIsHeldUntilTheFutureCompletes() throws Exception {
		assertHeldUntilTheWorkIsDone(this.work.goingOn());
	}

	@Test
	void r49PlainFutureIsHonouredBecauseTheThreadMayWaitForIt() throws Exception {
		assertHeldUntilTheWorkIsDone(this.work.future());
	}

	@Test
	void r49WorkThatIsDoneAtTheReturnReleases() throws Exception {
		assertThat(this.work.done().get(10, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(isFree()).isTrue();
		assertThat(this.work.returningNull().get(10, TimeUnit.SECONDS)).isNull();
		assertThat(isFree()).isTrue();
	}

	@Test
	void lossCancelsThePlainFutureIfAskedFor() throws Exception {
		Future<String> result = this.work.losing();
		this.work.getStarted().await();
		ForcedLoss.of(this.context.getBean(LeaseLockRegistry.class), "key");
		assertThat(catchThrowable(() -> result.get(20, TimeUnit.SECONDS))).isInstanceOf(ExecutionException.class)
			.hasCauseInstanceOf(LockLostException.class);
		assertThat(this.work.getTask()).isCancelled();
	}

	@Test
	void lossInterruptsTheThreadOfThePlainFuture() throws Exception {
		Thread worker = new Thread(this.work.getBlocked());
		worker.setDaemon(true);
		worker.start();
		this.work.getWorking().await();
		Future<String> result = this.work.blocking();
		this.work.getStarted().await();
		ForcedLoss.of(this.context.getBean(LeaseLockRegistry.class), "key");
		assertThat(catchThrowable(() -> result.get(20, TimeUnit.SECONDS))).hasCauseInstanceOf(LockLostException.class);
		try {
			worker.join(Patience.EVENTUALLY.toMillis());
			assertThat(worker.isAlive()).as("the work goes on").isFalse();
		}
		finally {
			worker.interrupt();
		}
	}

	@Test
	void cancelledWorkIsNoResult() throws Exception {
		Future<String> result = this.work.interruptible();
		this.work.getStarted().await();
		this.work.getTask().cancel(true);
		assertThat(catchThrowable(() -> result.get(20, TimeUnit.SECONDS)))
			.hasCauseInstanceOf(CancellationException.class);
	}

	@Test
	void r50InterruptIsLeftToTheThread() {
		this.store.acquire(new AcquireCommand("key", "elsewhere", Duration.ofSeconds(30), "another instance", ""));
		this.work.done();
		ThreadPoolTaskExecutor executor = this.context.getBean(ThreadPoolTaskExecutor.class);
		Awaitility.await().until(() -> executor.getActiveCount() == 1);
		executor.getThreadPoolExecutor().shutdownNow();
		assertThat(this.context.getBean(Config.class).interrupted).succeedsWithin(Duration.ofSeconds(30))
			.isEqualTo(true);
		this.store.release("key", "elsewhere");
	}

	@Test
	void r50InterruptedWaitEndsAndLeavesNothing() throws Exception {
		this.store.acquire(new AcquireCommand("key", "elsewhere", Duration.ofSeconds(30), "another instance", ""));
		Future<String> result = this.work.future();
		Awaitility.await().until(() -> this.context.getBean(ThreadPoolTaskExecutor.class).getActiveCount() == 1);
		this.context.getBean(ThreadPoolTaskExecutor.class).getThreadPoolExecutor().shutdownNow();
		assertThat(catchThrowable(() -> result.get(10, TimeUnit.SECONDS)))
			.hasCauseInstanceOf(LockInterruptedException.class);
		this.store.release("key", "elsewhere");
		assertThat(this.work.getThread()).isNull();
	}

	@Test
	void methodOfAnAsynchronousClassRunsOnTheThreadOfItsExecutor() {
		assertThat(this.context.getBean(AsynchronousClass.class).thread()).succeedsWithin(Patience.EVENTUALLY)
			.asString()
			.startsWith("async-");
	}

}
