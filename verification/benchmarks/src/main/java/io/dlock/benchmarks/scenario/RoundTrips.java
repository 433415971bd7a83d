package io.dlock.benchmarks.scenario;

import java.util.concurrent.TimeUnit;

import org.HdrHistogram.Histogram;

import io.dlock.benchmarks.contender.Contender;
import io.dlock.benchmarks.contender.ContenderLock;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.benchmarks.process.Leases;

/**
 * The cost of one command of a lock without a library: half of a cycle of the raw
 * contender, which takes and frees a lock without contention, and waits for the disk
 * where a lock has to.
 */
final class RoundTrips {

	private static final long WARM_UP = TimeUnit.SECONDS.toNanos(2);

	private static final long MEASURED = TimeUnit.SECONDS.toNanos(2);

	private RoundTrips() {
	}

	static Histogram measure(ServerAddress address) throws InterruptedException {
		Contender raw = ContenderType.RAW.connect(address, Leases.DEFAULT);
		try {
			ContenderLock lock = raw.open("round trip");
			Histogram warmUp = time(lock, WARM_UP);
			warmUp.reset();
			return time(lock, MEASURED);
		}
		finally {
			raw.close();
		}
	}

	private static Histogram time(ContenderLock lock, long duration) throws InterruptedException {
		Histogram nanos = new Histogram(3);
		long begin = System.nanoTime();
		long start = begin;
		while (start - begin < duration) {
			lock.acquire();
			lock.release();
			long end = System.nanoTime();
			nanos.recordValue((end - start) / 2);
			start = end;
		}
		return nanos;
	}

}
