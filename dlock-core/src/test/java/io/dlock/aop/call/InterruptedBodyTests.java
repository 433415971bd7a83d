package io.dlock.aop.call;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import io.dlock.DistributedLocked;
import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.LockSettings;
import io.dlock.OnLost;
import io.dlock.aop.DistributedLockedBeanPostProcessor;
import io.dlock.aop.PostProcessors;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.ForcedLoss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * {@link OnLost#INTERRUPT} interrupts the method that lost its lock, and no other.
 */
@Timeout(120)
public class InterruptedBodyTests {

	private final MemoryLockStore store = new MemoryLockStore();

	private final LeaseLockRegistry registry = new LeaseLockRegistry(this.store,
			LockSettings.builder().commandTimeout(Duration.ofMillis(2)).shutdownTimeout(Duration.ZERO).build());

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	@AfterEach
	void close() {
		this.context.close();
		this.registry.close();
	}

	private Bodies bodies() {
		DistributedLockedBeanPostProcessor postProcessor = PostProcessors.create(() -> this.registry);
		this.context.registerBean(DistributedLockedBeanPostProcessor.class, () -> postProcessor);
		this.context.registerBean(LockRegistry.class, () -> this.registry);
		this.context.registerBean(Bodies.class);
		this.context.refresh();
		return this.context.getBean(Bodies.class);
	}

	static class Bodies {

		@DistributedLocked(key = "#key", lease = "20ms", renew = false, onLost = OnLost.INTERRUPT)
		public String shortLease(String key, Callable<String> body) throws Exception {
			return body.call();
		}

		@DistributedLocked(key = "#key", lease = "30s", onLost = OnLost.INTERRUPT)
		public String longLease(String key, Callable<String> body) throws Exception {
			return body.call();
		}

		@DistributedLocked(key = "#key", lease = "4s", maxHold = "4s", onLost = OnLost.INTERRUPT)
		public String limited(String key, Callable<String> body) throws Exception {
			return body.call();
		}

	}

	private static String hang() throws InterruptedException {
		new CountDownLatch(1).await();
		return "never";
	}

	/**
	 * Bodies that end at about the moment in which their lease does, on threads that then
	 * do something else.
	 */
	@Test
	void threadThatHasMovedOnIsNeverInterrupted() throws Exception {
		Bodies bodies = bodies();
		AtomicInteger lost = new AtomicInteger();
		AtomicInteger kept = new AtomicInteger();
		AtomicInteger strays = new AtomicInteger();
		ExecutorService pool = Executors.newFixedThreadPool(4);
		CountDownLatch done = new CountDownLatch(4);
		for (int worker = 0; worker < 4; worker++) {
			String key = "worker " + worker;
			pool.execute(() -> {
				for (int i = 0; i < 300; i++) {
					long bodyNanos = 8_000_000 + ThreadLocalRandom.current().nextLong(12_000_000);
					Throwable failure = catchThrowable(() -> bodies.shortLease(key, () -> pass(bodyNanos)));
					pass(500_000);
					strays.addAndGet(Thread.interrupted() ? 1 : 0);
					(failure instanceof LockLostException ? lost : kept).incrementAndGet();
				}
				done.countDown();
			});
		}
		done.await();
		pool.shutdownNow();
		assertThat(strays).as("interrupts of threads that had moved on").hasValue(0);
		assertThat(lost).as("runs that lost their lock").hasPositiveValue();
		assertThat(kept).as("runs that kept it").hasPositiveValue();
	}

	private static String pass(long nanos) {
		long end = System.nanoTime() + nanos;
		while (System.nanoTime() < end) {
			LockSupport.parkNanos(100_000);
		}
		return "done";
	}

	@Test
	void nextTaskOfAPooledThreadIsNotInterrupted() throws Exception {
		Bodies bodies = bodies();
		ExecutorService pool = Executors.newSingleThreadExecutor();
		for (int i = 0; i < 5; i++) {
			Future<Throwable> loser = pool
				.submit(() -> catchThrowable(() -> bodies.shortLease("key", InterruptedBodyTests::hang)));
			Future<Boolean> next = pool.submit(() -> new CountDownLatch(1).await(40, TimeUnit.MILLISECONDS));
			assertThat(loser.get()).isInstanceOf(InterruptedException.class);
			assertThat(next.get()).as("was not interrupted").isFalse();
		}
		pool.shutdownNow();
	}

	@Test
	void interruptOfAnInnerLockEndsWithItsMethod() throws Exception {
		Bodies bodies = bodies();
		assertThat(bodies.longLease("outer", () -> {
			assertThat(catchThrowable(() -> bodies.longLease("inner", () -> {
				ForcedLoss.ofCurrent(this.registry);
				assertThat(awaitInterrupt()).isTrue();
				return "";
			}))).isInstanceOf(LockLostException.class);
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			return "goes on";
		})).isEqualTo("goes on");
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void interruptOfAnOuterLockReachesTheInnerMethod() {
		Bodies bodies = bodies();
		InterruptedException ex = catchThrowableOfType(InterruptedException.class,
				() -> bodies.longLease("outer", () -> bodies.longLease("inner", () -> {
					ForcedLoss.of(this.registry, "outer");
					return hang();
				})));
		assertThat(ex.getSuppressed()).singleElement()
			.isInstanceOf(LockLostException.class)
			.satisfies((loss) -> assertThat(((LockLostException) loss).key()).isEqualTo("outer"));
		assertThat(Thread.interrupted()).isFalse();
		assertThat(LockHandle.current()).isEmpty();
	}

	/**
	 * The inner method clears its interrupt when it ends, which must not be that of the
	 * outer.
	 */
	@Test
	void methodThatLostItsLockStaysInterruptedWhenAMethodItCalledLostItsOwnToo() throws Exception {
		Bodies bodies = bodies();
		boolean[] interrupted = new boolean[1];
		Throwable failure = catchThrowable(() -> bodies.longLease("outer", () -> {
			LockHandle outer = LockHandle.current().orElseThrow();
			assertThat(catchThrowable(() -> bodies.longLease("inner", () -> {
				CountDownLatch told = new CountDownLatch(2);
				LockHandle.current().orElseThrow().onLost((lost) -> told.countDown());
				outer.onLost((lost) -> told.countDown());
				ForcedLoss.ofCurrent(this.registry);
				ForcedLoss.of(this.registry, outer);
				awaitUninterruptibly(told);
				return "";
			}))).isInstanceOf(LockLostException.class);
			// the one may be told after the other
			interrupted[0] = awaitInterrupt();
			return "";
		}));
		assertThat(interrupted[0]).as("of the outer body").isTrue();
		assertThat(failure).isInstanceOf(LockLostException.class);
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void nestedCallsOfOneLockAreBothInterrupted() {
		Bodies bodies = bodies();
		boolean[] interrupted = new boolean[1];
		Throwable failure = catchThrowable(() -> bodies.longLease("key", () -> {
			assertThat(catchThrowable(() -> bodies.longLease("key", () -> {
				ForcedLoss.ofCurrent(this.registry);
				return hang();
			}))).isInstanceOf(InterruptedException.class);
			// the one may be told after the other
			interrupted[0] = awaitInterrupt();
			return "";
		}));
		assertThat(failure).isInstanceOf(LockLostException.class);
		assertThat(interrupted[0]).isTrue();
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void methodThatHangsIsInterruptedAtItsMaxHold() {
		Bodies bodies = bodies();
		InterruptedException ex = catchThrowableOfType(InterruptedException.class,
				() -> bodies.limited("key", InterruptedBodyTests::hang));
		assertThat(ex.getSuppressed()).singleElement()
			.satisfies((loss) -> assertThat(loss).hasMessageContaining("maxHold of 4000 ms"));
		assertThat(this.store.find("key")).isEmpty();
	}

	/**
	 * Without using it up.
	 */
	private static boolean awaitInterrupt() {
		long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
		while (!Thread.currentThread().isInterrupted() && System.nanoTime() < end) {
			Thread.onSpinWait();
		}
		return Thread.currentThread().isInterrupted();
	}

	/**
	 * The body is interrupted while it waits for this.
	 */
	private static void awaitUninterruptibly(CountDownLatch latch) {
		boolean interrupted = false;
		while (latch.getCount() > 0) {
			try {
				latch.await();
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

}
