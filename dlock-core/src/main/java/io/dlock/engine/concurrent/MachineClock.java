package io.dlock.engine.concurrent;

/**
 * The clocks of this machine. They are read only here, so that tests can turn them.
 */
public interface MachineClock {

	/**
	 * The real clocks.
	 */
	MachineClock SYSTEM = new MachineClock() {

		@Override
		public long nanoTime() {
			return System.nanoTime();
		}

		@Override
		public long wallMillis() {
			return System.currentTimeMillis();
		}

	};

	/**
	 * The monotonic clock.
	 * @return nanoseconds from an arbitrary origin
	 */
	long nanoTime();

	/**
	 * The wall clock.
	 * @return milliseconds since the epoch
	 */
	long wallMillis();

	/**
	 * Read both clocks.
	 * @return this moment
	 */
	default Moment now() {
		return new Moment(nanoTime(), wallMillis());
	}

	/**
	 * The elapsed time by the monotonic clock, or by the wall clock if that is more. The
	 * monotonic clock stands still while a virtual machine or laptop is suspended, and
	 * the clock of the store does not. A wall clock that is set forward may lose a lock
	 * needlessly, which is safe; one that is set back has no effect.
	 * @param since a moment of this clock
	 * @return elapsed nanoseconds
	 */
	default long elapsedNanos(Moment since) {
		long monotonic = nanoTime() - since.nanos();
		long wallMillis = wallMillis() - since.wallMillis();
		long wall = (wallMillis > Long.MAX_VALUE / 1_000_000) ? Long.MAX_VALUE : wallMillis * 1_000_000;
		return Math.max(monotonic, wall);
	}

	/**
	 * A reading of both clocks.
	 *
	 * @param nanos the monotonic clock
	 * @param wallMillis the wall clock
	 */
	record Moment(long nanos, long wallMillis) {

	}

}
