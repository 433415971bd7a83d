package io.dlock.benchmarks.contender;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * The speed of the threads of one JVM without any server, first come, first served.
 */
final class ReentrantLockContender implements Contender {

	private final Map<String, Lock> locks = new ConcurrentHashMap<>();

	@Override
	public ContenderLock open(String key) {
		return open(key, LockKind.EXCLUSIVE);
	}

	@Override
	public ContenderLock open(String key, LockKind kind) {
		return new JavaLock(this.locks.computeIfAbsent(key, (k) -> (kind == LockKind.READ)
				? new ReentrantReadWriteLock(true).readLock() : new ReentrantLock(true)));
	}

	@Override
	public void close() {
	}

}
