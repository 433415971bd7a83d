package io.dlock.engine.concurrent;

import java.time.Duration;

/**
 * A clock that a test turns.
 */
public final class TurnedClock implements MachineClock {

	private volatile long nanos = Long.MAX_VALUE - Duration.ofSeconds(5).toNanos();

	private volatile long wallMillis = 1_800_000_000_000L;

	/** Runs whenever the engine reads the time. */
	public volatile Runnable onReading = () -> {
	};

	@Override
	public long nanoTime() {
		this.onReading.run();
		return this.nanos;
	}

	@Override
	public long wallMillis() {
		return this.wallMillis;
	}

	/**
	 * Let time pass on both clocks.
	 */
	public void pass(Duration time) {
		this.nanos += time.toNanos();
		this.wallMillis += time.toMillis();
	}

	/**
	 * Step the wall clock only.
	 */
	public void stepWall(Duration step) {
		this.wallMillis += step.toMillis();
	}

	/**
	 * Slow down the monotonic clock, as the suspension of a virtual machine does.
	 */
	public void passOnTheWallOnly(Duration time) {
		this.wallMillis += time.toMillis();
	}

}
