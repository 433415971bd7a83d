package io.dlock.torture.cost;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.dlock.LockRegistry;
import io.dlock.LockRequest;

/**
 * The time that one thread takes to acquire and release, with keys in turn.
 */
final class Cycles {

	private static final int WARM_UP = 2;

	private static final int ROUNDS = 7;

	private static final int SLICES = 8;

	/** Short: a thread that stays on one processor for a while is faster or slower. */
	private static final Duration SLICE = Duration.ofMillis(50);

	private static final List<LockRequest> REQUESTS = IntStream.range(0, 64)
		.mapToObj((i) -> LockRequest.builder("cycle-" + i).waitTime(Topology.PATIENCE).build())
		.toList();

	private Cycles() {
	}

	/**
	 * Measure two registries by turns.
	 * @param reference the one that is compared with
	 * @param registry the other
	 * @return the time of the other, and how many times that of the reference it is
	 */
	static String compare(LockRegistry reference, LockRegistry registry) {
		List<Double> micros = new ArrayList<>();
		List<Double> ratios = new ArrayList<>();
		for (int round = -WARM_UP; round < ROUNDS; round++) {
			List<Double> others = new ArrayList<>();
			List<Double> own = new ArrayList<>();
			for (int slice = 0; slice < SLICES; slice++) {
				measure(reference, others);
				measure(registry, own);
			}
			if (round >= 0) {
				micros.add(Spread.of(own).median());
				ratios.add(Spread.of(own).median() / Spread.of(others).median());
			}
		}
		return "%.0f µs | %s".formatted(Spread.of(micros).median(), Spread.of(ratios).text("%.2f"));
	}

	private static void measure(LockRegistry registry, List<Double> micros) {
		long start = System.nanoTime();
		long before = start;
		for (int i = 0; before - start < SLICE.toNanos(); i++) {
			registry.acquire(REQUESTS.get(i % REQUESTS.size())).release();
			long now = System.nanoTime();
			micros.add((now - before) / 1e3);
			before = now;
		}
	}

}
