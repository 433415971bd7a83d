package io.dlock.test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import org.awaitility.core.ThrowingRunnable;

/**
 * Tells the duration of an action from the lateness of the machine meanwhile. A thread
 * pauses again and again, as the code under test waits for its timeouts, and the time by
 * which its pauses are too long is the lateness of the machine.
 */
public final class MachineWatch implements AutoCloseable {

	private static final long PAUSE = Duration.ofMillis(50).toNanos();

	private static final int RUNS = 10;

	/** The part of the time by which a machine that is not busy may be late. */
	private static final int TOLERANCE_DIVISOR = 20;

	private final Starvation starvation = new Starvation();

	private final long begin;

	private final Thread thread = new Thread(this::run, "machine-watch");

	private volatile Progress progress;

	private volatile boolean closed;

	private MachineWatch() {
		this.starvation.longestSince(processes());
		this.begin = System.nanoTime();
		this.progress = new Progress(0, this.begin);
		this.thread.setDaemon(true);
		this.thread.start();
	}

	/**
	 * Begin to watch.
	 * @return the watch
	 */
	public static MachineWatch start() {
		return new MachineWatch();
	}

	/**
	 * Run a test in which something has to be done before a short time is over. It is
	 * repeated if it fails and the machine was late meanwhile. On a machine that was not,
	 * the code has failed.
	 * @param test the test, which can be repeated
	 */
	public static void repeatIfLate(ThrowingRunnable test) {
		evaluateIfLate(() -> {
			try {
				test.run();
			}
			catch (Exception | Error ex) {
				throw ex;
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
			return true;
		});
	}

	/**
	 * As {@link #repeatIfLate(ThrowingRunnable)}, with a result.
	 * @param <T> the type of the result
	 * @param test the test, which can be repeated
	 * @return its result
	 */
	public static <T> T evaluateIfLate(Callable<T> test) {
		for (int i = 1;; i++) {
			try (MachineWatch watch = start()) {
				try {
					return test.call();
				}
				catch (Exception | AssertionError ex) {
					if (ex instanceof InterruptedException) {
						Thread.currentThread().interrupt();
					}
					// the timeout of a test interrupts it only once
					if (i == RUNS || !watch.isLate() || Thread.currentThread().isInterrupted()) {
						throw (ex instanceof Exception failure) ? new AssertionError(failure) : (AssertionError) ex;
					}
				}
			}
		}
	}

	private void run() {
		while (!this.closed) {
			LockSupport.parkNanos(PAUSE);
			long now = System.nanoTime();
			this.progress = new Progress(this.progress.latenessAt(now), now);
		}
	}

	/**
	 * Measure an action.
	 * @param action the action
	 * @return the time that it takes on a machine that is never late
	 * @throws Exception if the action does
	 */
	public Duration time(Callable<?> action) throws Exception {
		long begin = System.nanoTime();
		long late = this.progress.latenessAt(begin);
		action.call();
		long end = System.nanoTime();
		return Duration.ofNanos(end - begin - (this.progress.latenessAt(end) - late));
	}

	/**
	 * Whether the machine has been late since this watch began: the thread of the watch,
	 * or another one of this process or of the servers that it started, unless it has
	 * ended. A thread that pauses gets a processor sooner than one that works.
	 */
	public boolean isLate() {
		long now = System.nanoTime();
		long lateness = Math.max(this.progress.latenessAt(now), this.starvation.longestUntilNow(processes()));
		return lateness > PAUSE + (now - this.begin) / TOLERANCE_DIVISOR;
	}

	private static List<Long> processes() {
		ProcessHandle self = ProcessHandle.current();
		return Stream.concat(Stream.of(self), self.descendants()).map(ProcessHandle::pid).toList();
	}

	@Override
	public void close() {
		this.closed = true;
		LockSupport.unpark(this.thread);
	}

	/**
	 * The lateness of the machine until now.
	 *
	 * @param lateness the lateness in all pauses that have ended
	 * @param since the time at which the latest of them ended
	 */
	private record Progress(long lateness, long since) {

		long latenessAt(long now) {
			return this.lateness + Math.max(0, now - this.since - PAUSE);
		}

	}

}
