package io.dlock.benchmarks.process;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.HdrHistogram.Histogram;

import io.dlock.benchmarks.contender.Contender;
import io.dlock.benchmarks.contender.ContenderLock;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.benchmarks.load.Exclusion;
import io.dlock.benchmarks.load.SharedExclusion;
import io.dlock.benchmarks.load.SharedWords;
import io.dlock.benchmarks.load.Window;

/**
 * Hands one lock to and fro with another JVM. The holder lets go when the other waits,
 * and asks again when the other holds, so that they alternate whatever the lock thinks of
 * fairness. Arguments: server, contender, key, shared file, 1 or 2.
 */
final class PingPongTask implements ChildTask {

	private static final int RELEASED_AT = 2;

	private static final int HOLDER = 3;

	private static final int STOP = 4;

	/** The first of two, by id. */
	private static final int WAITS = 4;

	private static final long PATIENCE = Duration.ofSeconds(60).toNanos();

	private final Histogram latencies = new Histogram(3);

	@Override
	public ChildReport run(List<String> arguments, Parent parent) throws InterruptedException {
		Contender contender = ContenderType.of(arguments.get(1))
			.connect(ServerAddress.parse(arguments.get(0)), Leases.DEFAULT);
		ContenderLock lock = contender.open(arguments.get(2));
		SharedWords words = SharedWords.in(Path.of(arguments.get(3)));
		Exclusion exclusion = new SharedExclusion(words);
		int me = Integer.parseInt(arguments.get(4));
		int other = 3 - me;
		FirstUse.of(contender);
		parent.say("ready");
		Window window = ContendTask.window(parent.hear("go"));
		long cycles = 0;
		if (me == 2) {
			await(() -> words.get(HOLDER) == other);
		}
		while (words.get(STOP) == 0) {
			words.set(WAITS + me, 1);
			lock.acquire();
			long granted = System.nanoTime();
			words.set(WAITS + me, 0);
			exclusion.enter(me);
			cycles++;
			if (window.hasBegun(granted) && words.get(HOLDER) == other && words.get(STOP) == 0) {
				this.latencies.recordValue(granted - words.get(RELEASED_AT));
			}
			words.set(HOLDER, me);
			if (words.get(STOP) == 0) {
				await(() -> words.get(WAITS + other) == 1);
				workFor(TimeUnit.MICROSECONDS.toNanos(ThreadLocalRandom.current().nextInt(500, 1000)));
			}
			boolean last = window.isOver(System.nanoTime());
			if (last) {
				words.set(STOP, 1);
			}
			exclusion.exit(me);
			words.set(RELEASED_AT, System.nanoTime());
			lock.release();
			if (!last) {
				await(() -> words.get(HOLDER) == other || words.get(STOP) == 1);
			}
		}
		return ChildReport.of(Map.of("cycles", (double) cycles, "violations", (double) exclusion.violations()),
				this.latencies, null);
	}

	/**
	 * Long enough that the other really waits, and at no fixed distance to a poll. A
	 * holder works: it does not sleep.
	 */
	private static void workFor(long nanos) {
		long start = System.nanoTime();
		while (System.nanoTime() - start < nanos) {
			Thread.onSpinWait();
		}
	}

	private static void await(BooleanSupplier condition) throws InterruptedException {
		long start = System.nanoTime();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - start > PATIENCE) {
				throw new IllegalStateException("The other JVM does nothing");
			}
			TimeUnit.MICROSECONDS.sleep(50);
		}
	}

}
