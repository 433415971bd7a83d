package io.dlock.benchmarks.process;

import java.util.concurrent.ThreadLocalRandom;

import io.dlock.benchmarks.contender.Contender;
import io.dlock.benchmarks.contender.ContenderLock;

/**
 * Connects and loads classes, before there is anything to contend for.
 */
final class FirstUse {

	private static final int CYCLES = 50;

	private FirstUse() {
	}

	static void of(Contender contender) throws InterruptedException {
		ContenderLock lock = contender.open("first-" + Long.toHexString(ThreadLocalRandom.current().nextLong()));
		for (int i = 0; i < CYCLES; i++) {
			lock.acquire();
			lock.release();
		}
	}

}
