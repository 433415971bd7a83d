package io.dlock.benchmarks.process;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import io.dlock.benchmarks.contender.Contender;
import io.dlock.benchmarks.contender.ContenderLock;
import io.dlock.benchmarks.contender.ContenderType;
import io.dlock.benchmarks.contender.DlockContender;
import io.dlock.benchmarks.contender.ServerAddress;

/**
 * Locks many keys once each and never again. Arguments: server, contender, number of
 * keys.
 */
final class UseKeysTask implements ChildTask {

	private static final int THREADS = 32;

	/** Enough for pools, caches and histograms to have grown. */
	private static final int WARM_UP = 3_000;

	@Override
	public ChildReport run(List<String> arguments, Parent parent) throws InterruptedException {
		int keys = Integer.parseInt(arguments.get(2));
		Contender contender = ContenderType.of(arguments.get(1))
			.connect(ServerAddress.parse(arguments.get(0)), Leases.DEFAULT);
		use(contender, "warm-up-", WARM_UP);
		MemoryUse before = MemoryUse.now();
		long start = System.nanoTime();
		use(contender, "once-", keys);
		double seconds = (System.nanoTime() - start) / 1e9;
		MemoryUse after = MemoryUse.now();
		parent.say("used");
		parent.hear("sweep");
		if (contender instanceof DlockContender ours) {
			ours.sweep();
		}
		return ChildReport
			.of(Map.of("cyclesPerSecond", keys / seconds, "heapLeft", (double) (after.heap() - before.heap()),
					"objectsLeft", (double) after.dlockObjects() - before.dlockObjects()));
	}

	private static void use(Contender contender, String prefix, int keys) throws InterruptedException {
		AtomicInteger next = new AtomicInteger();
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			Thread thread = new Thread(() -> use(contender, prefix, keys, next), "load-" + i);
			thread.start();
			threads.add(thread);
		}
		for (Thread thread : threads) {
			thread.join();
		}
	}

	private static void use(Contender contender, String prefix, int keys, AtomicInteger next) {
		try {
			for (int i = next.getAndIncrement(); i < keys; i = next.getAndIncrement()) {
				ContenderLock lock = contender.open(prefix + i);
				lock.acquire();
				lock.release();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
