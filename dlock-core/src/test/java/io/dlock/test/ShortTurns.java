package io.dlock.test;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The turns of 50 ms that fair requests have. A thread that stands still for longer
 * misses its turn, and the next request is served before it.
 */
public final class ShortTurns {

	private static final Duration LIMIT = Duration.ofMinutes(3);

	private static final int ROUNDS = 3;

	/** A single thread may stand still although the machine as a whole is not late. */
	private static final int ALLOWED_MISSES = 2;

	private ShortTurns() {
	}

	/**
	 * Repeat requests until they were served in their order three times. Turns that are
	 * missed while the machine is late do not count.
	 * @param areServedInOrder makes the requests, and answers whether they were served in
	 * their order
	 */
	public static void await(Callable<Boolean> areServedInOrder) {
		AtomicInteger served = new AtomicInteger();
		AtomicInteger missed = new AtomicInteger();
		Awaitility.await().atMost(LIMIT).until(() -> {
			try (MachineWatch watch = MachineWatch.start()) {
				if (areServedInOrder.call()) {
					return served.incrementAndGet() == ROUNDS;
				}
				if (!watch.isLate()) {
					missed.incrementAndGet();
				}
				assertThat(missed).as("rounds with a missed turn on a machine that is not late")
					.hasValueLessThanOrEqualTo(ALLOWED_MISSES);
				return false;
			}
		});
	}

}
