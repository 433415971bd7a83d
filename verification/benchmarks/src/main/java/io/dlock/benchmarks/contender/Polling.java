package io.dlock.benchmarks.contender;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * How those wait that have no waiting of their own: they try again after a while.
 */
final class Polling {

	private final long nanos;

	Polling(Duration interval) {
		this.nanos = interval.toNanos();
	}

	static Polling of(Backend backend) {
		return new Polling((backend == Backend.REDIS) ? Duration.ofMillis(1) : Duration.ofMillis(5));
	}

	void until(BooleanSupplier acquired) throws InterruptedException {
		while (!acquired.getAsBoolean()) {
			TimeUnit.NANOSECONDS.sleep(this.nanos);
		}
	}

}
