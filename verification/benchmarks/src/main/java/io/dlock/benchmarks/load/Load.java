package io.dlock.benchmarks.load;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The work of a number of threads in a window.
 *
 * @param cyclesPerSecond locks acquired and released
 * @param waits how long they took to acquire, in nanoseconds
 * @param cycleTimes how long acquire and release took together, in nanoseconds
 * @param cycles all cycles, before and after the window too
 * @param errors what failed
 * @param lastError the last failure, or {@code null}
 */
public record Load(double cyclesPerSecond, Histogram waits, Histogram cycleTimes, long cycles, long errors,
		@Nullable Exception lastError) {

	/**
	 * Adds up what the threads did.
	 */
	static final class Builder {

		private final Histogram waits = new Histogram(3);

		private final Histogram cycleTimes = new Histogram(3);

		private long inWindow;

		private long total;

		private long errors;

		private @Nullable Exception lastError;

		void add(long inWindow, long total, Histogram waits, Histogram cycleTimes, int errors,
				@Nullable Exception lastError) {
			this.inWindow += inWindow;
			this.total += total;
			this.waits.add(waits);
			this.cycleTimes.add(cycleTimes);
			this.errors += errors;
			this.lastError = (lastError != null) ? lastError : this.lastError;
		}

		Load build(Window window) {
			return new Load(this.inWindow / window.seconds(), this.waits, this.cycleTimes, this.total, this.errors,
					this.lastError);
		}

	}

}
