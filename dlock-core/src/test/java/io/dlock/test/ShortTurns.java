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

	/** A single thread may stand still although the machine as a whole is not late. */
	private static final int ALLOWED_MISSES = 2;

	private ShortTurns() {
	}

	/**
	 * Repeat requests until they are served in their order. Turns that are missed while
	 * the machine is late do not count.
	 * @param areServedInOrder makes the requests, and answers whether they were served in
	 * their order
	 */
	public static void await(Callable<Boolean> areServedInOrder) {
		AtomicInteger misses = new AtomicInteger();
		Awaitility.await().atMost(LIMIT).until(() -> {
			try (MachineWatch watch = MachineWatch.start()) {
				boolean inOrder = areServedInOrder.call();
				if (!inOrder && !watch.isLate()) {
					misses.incrementAndGet();
				}
				assertThat(misses).as("turns missed on a machine that is not late")
					.hasValueLessThanOrEqualTo(ALLOWED_MISSES);
				return inOrder;
			}
		});
	}

}
