package io.dlock.aop.call;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.dlock.LockHandle;
import io.dlock.LockSet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A loss at every moment of a body, its beginning and its end above all.
 */
@Timeout(60)
class InterruptibleMethodTests {

	private static final int MOST_ROUNDS = 100_000;

	/** A busy machine makes fewer rounds. */
	private static final long NANOS = TimeUnit.SECONDS.toNanos(3);

	/**
	 * Each round, this thread runs a body of some nanoseconds to milliseconds and another
	 * one tells it of a loss. When that has returned no interrupt may be left.
	 */
	@Test
	void interruptNeverOutlivesTheBody() throws Throwable {
		AtomicReference<@Nullable Consumer<? super LockHandle>> listener = new AtomicReference<>();
		AtomicInteger told = new AtomicInteger();
		AtomicInteger interrupted = new AtomicInteger();
		Handle handle = new Handle(listener);
		Thread teller = new Thread(() -> {
			while (true) {
				Consumer<? super LockHandle> next = listener.getAndSet(null);
				for (int looks = 0; next == null; looks++) {
					pause(looks);
					next = listener.getAndSet(null);
				}
				spin(ThreadLocalRandom.current().nextInt(200));
				next.accept(handle);
				told.incrementAndGet();
			}
		});
		teller.setDaemon(true);
		teller.start();
		int strays = 0;
		int round = 0;
		for (long start = System.nanoTime(); round < MOST_ROUNDS && System.nanoTime() - start < NANOS; round++) {
			new InterruptibleMethod(LockSet.of(List.of(handle))).run(new Call(() -> {
				spin(ThreadLocalRandom.current().nextInt(1 << ThreadLocalRandom.current().nextInt(16)));
				interrupted.addAndGet(Thread.currentThread().isInterrupted() ? 1 : 0);
			}));
			for (int looks = 0; told.get() == round; looks++) {
				pause(looks);
			}
			strays += Thread.interrupted() ? 1 : 0;
		}
		assertThat(strays).as("interrupts that outlived their body").isZero();
		assertThat(interrupted).as("bodies that were interrupted").hasPositiveValue().hasValueLessThan(round);
	}

	/**
	 * A thread that looks all the time is paused by a busy machine when it is its turn.
	 */
	private static void pause(int looks) {
		if (looks < 1000) {
			Thread.onSpinWait();
		}
		else {
			LockSupport.parkNanos(1000);
		}
	}

	private static void spin(int times) {
		for (int i = 0; i < times; i++) {
			Thread.onSpinWait();
		}
	}

	private static class Handle implements LockHandle {

		private final AtomicReference<@Nullable Consumer<? super LockHandle>> listener;

		private Handle(AtomicReference<@Nullable Consumer<? super LockHandle>> listener) {
			this.listener = listener;
		}

		@Override
		public String key() {
			return "key";
		}

		@Override
		public long token() {
			return 1;
		}

		@Override
		public boolean isValid() {
			return false;
		}

		@Override
		public Duration remaining() {
			return Duration.ZERO;
		}

		@Override
		public void assertHeld() {
		}

		@Override
		public void renewNow() {
		}

		@Override
		public void onLost(Consumer<? super LockHandle> told) {
			this.listener.set(told);
		}

		@Override
		public void release() {
		}

	}

	/**
	 * No thread could be started to tell of a loss.
	 */
	@Test
	void failedListenerRegistrationLeavesNothingOnThread() throws Throwable {
		Handle handle = new Handle(new AtomicReference<>()) {

			@Override
			public void onLost(Consumer<? super LockHandle> told) {
				throw new OutOfMemoryError("unable to create native thread");
			}

		};
		AtomicInteger runs = new AtomicInteger();
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(
				() -> new InterruptibleMethod(LockSet.of(List.of(handle))).run(new Call(runs::incrementAndGet)));
		assertThat(runs).hasValue(0);
		Field innermost = InterruptibleMethod.class.getDeclaredField("INNERMOST");
		innermost.setAccessible(true);
		assertThat(((ThreadLocal<?>) innermost.get(null)).get()).isNull();
	}

	@Test
	void interruptOfAnInnerBodyIsNotRepeatedAfterTheNext() {
		Handle valid = new Handle(new AtomicReference<>());
		Handle lost = new Handle(new AtomicReference<>()) {

			@Override
			public void onLost(Consumer<? super LockHandle> told) {
				told.accept(this);
			}

		};
		List<Boolean> interrupted = new ArrayList<>();
		Runnable look = () -> interrupted.add(Thread.currentThread().isInterrupted());
		run(valid, () -> {
			run(lost, look);
			look.run();
			run(valid, look);
			look.run();
		});
		assertThat(interrupted).containsExactly(true, false, false, false);
	}

	private static void run(Handle handle, Runnable body) {
		try {
			new InterruptibleMethod(LockSet.of(List.of(handle))).run(new Call(body));
		}
		catch (Throwable ex) {
			throw new AssertionError(ex);
		}
	}

	private static final class Call implements MethodInvocation {

		private final Runnable body;

		private Call(Runnable body) {
			this.body = body;
		}

		@Override
		public @Nullable Object proceed() {
			this.body.run();
			return null;
		}

		@Override
		public Method getMethod() {
			throw new UnsupportedOperationException();
		}

		@Override
		public Object[] getArguments() {
			return new Object[0];
		}

		@Override
		public Object getThis() {
			return this;
		}

		@Override
		public AccessibleObject getStaticPart() {
			throw new UnsupportedOperationException();
		}

	}

}
