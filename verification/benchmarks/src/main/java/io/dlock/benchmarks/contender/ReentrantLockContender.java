package io.dlock.benchmarks.contender;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The speed of the threads of one JVM without any server, first come, first served.
 */
final class ReentrantLockContender implements Contender {

	private final Map<String, ReentrantLock> locks = new ConcurrentHashMap<>();

	@Override
	public ContenderLock open(String key) {
		return new JavaLock(this.locks.computeIfAbsent(key, (k) -> new ReentrantLock(true)));
	}

	@Override
	public void close() {
	}

}
