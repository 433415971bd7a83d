package io.dlock.benchmarks.profile;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.DoubleFunction;
import java.util.stream.IntStream;

import io.dlock.benchmarks.report.Summary;

/**
 * How often threads repeat a step in a second.
 */
final class Rates {

	private Rates() {
	}

	/**
	 * Let groups of threads repeat their steps at the same time, until the time is over
	 * or one of them has nothing more to do.
	 * @param groups the steps of each group, one for each thread
	 * @return the steps per second of each group
	 * @throws Exception if a step fails
	 */
	@SafeVarargs
	static List<Double> of(Duration time, List<Step>... groups) throws Exception {
		CountDownLatch start = new CountDownLatch(1);
		AtomicBoolean over = new AtomicBoolean();
		ExecutorService threads = Executors.newCachedThreadPool();
		try {
			List<List<Future<Double>>> running = new ArrayList<>();
			for (List<Step> group : groups) {
				running.add(group.stream().map((step) -> threads.submit(() -> {
					start.await();
					return repeat(step, time, over);
				})).toList());
			}
			start.countDown();
			List<Double> rates = new ArrayList<>();
			for (List<Future<Double>> group : running) {
				double sum = 0;
				for (Future<Double> thread : group) {
					sum += thread.get();
				}
				rates.add(sum);
			}
			return rates;
		}
		finally {
			threads.shutdownNow();
		}
	}

	/**
	 * The first thread that ends, or fails, ends all.
	 */
	private static double repeat(Step step, Duration time, AtomicBoolean over) throws Exception {
		long begin = System.nanoTime();
		int count = 0;
		try {
			while (!over.get() && System.nanoTime() - begin < time.toNanos() && step.run()) {
				count++;
			}
		}
		finally {
			over.set(true);
		}
		return count * 1e9 / (System.nanoTime() - begin);
	}

	/**
	 * The ratios of two series of figures, round by round.
	 */
	static Summary ratio(List<Double> figures, List<Double> others) {
		return Summary.of(IntStream.range(0, figures.size()).mapToObj((i) -> figures.get(i) / others.get(i)).toList());
	}

	static String text(String format, Summary summary) {
		DoubleFunction<String> number = format::formatted;
		return "%s (%s–%s)".formatted(number.apply(summary.median()), number.apply(summary.min()),
				number.apply(summary.max()));
	}

	/**
	 * Something that a thread repeats.
	 */
	@FunctionalInterface
	interface Step {

		/**
		 * Do it once.
		 * @return whether there is more to do
		 */
		boolean run() throws Exception;

	}

}
