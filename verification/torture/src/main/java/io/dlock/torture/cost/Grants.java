package io.dlock.torture.cost;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import io.dlock.LockException;
import io.dlock.LockHandle;
import io.dlock.LockRegistry;

/**
 * A thread that acquires one fresh key after the other, each until it is granted, and the
 * longest time between two grants.
 */
final class Grants implements AutoCloseable {

	private static final Duration PAUSE = Duration.ofMillis(1);

	private final AtomicLong count = new AtomicLong();

	private final AtomicLong longestGap = new AtomicLong();

	private long last;

	private volatile boolean closed;

	/**
	 * Start to count.
	 * @param now the time of the first grant, in nanoseconds
	 */
	Grants(long now) {
		this.last = now;
	}

	static Grants start(LockRegistry registry) {
		Grants grants = new Grants(System.nanoTime());
		Thread thread = new Thread(() -> grants.acquire(registry), "grants");
		thread.setDaemon(true);
		thread.start();
		return grants;
	}

	private void acquire(LockRegistry registry) {
		for (int i = 0; !this.closed; LockSupport.parkNanos(PAUSE.toNanos())) {
			try {
				LockHandle handle = registry.acquire("fresh-" + i);
				granted(System.nanoTime());
				i++;
				handle.release();
			}
			catch (LockException ex) {
				// the same key again
			}
		}
	}

	void granted(long now) {
		this.longestGap.accumulateAndGet(now - this.last, Math::max);
		this.last = now;
		this.count.incrementAndGet();
	}

	void forgetGaps() {
		this.longestGap.set(0);
	}

	Duration longestGap() {
		return Duration.ofNanos(this.longestGap.get());
	}

	/**
	 * Wait for further grants.
	 * @param more how many
	 */
	void awaitMore(int more) {
		long goal = this.count.get() + more;
		long end = System.nanoTime() + Topology.PATIENCE.toNanos();
		while (this.count.get() < goal) {
			if (System.nanoTime() - end > 0) {
				throw new IllegalStateException("No locks are granted");
			}
			LockSupport.parkNanos(PAUSE.toNanos());
		}
	}

	@Override
	public void close() {
		this.closed = true;
	}

}
