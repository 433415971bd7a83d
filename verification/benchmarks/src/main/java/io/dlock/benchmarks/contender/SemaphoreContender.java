package io.dlock.benchmarks.contender;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * The throughput that threads of one JVM reach with tries and without any store.
 */
final class SemaphoreContender implements Contender {

	private final Map<String, Semaphore> semaphores = new ConcurrentHashMap<>();

	@Override
	public ContenderLock open(String key) {
		return open(key, LockKind.EXCLUSIVE);
	}

	@Override
	public ContenderLock open(String key, LockKind kind) {
		return new Held(this.semaphores.computeIfAbsent(key, (k) -> new Semaphore(kind.places())));
	}

	@Override
	public void close() {
	}

	private record Held(Semaphore semaphore) implements ContenderLock {

		@Override
		public void acquire() throws InterruptedException {
			this.semaphore.acquire();
		}

		@Override
		public boolean tryAcquire() {
			return this.semaphore.tryAcquire();
		}

		@Override
		public void release() {
			this.semaphore.release();
		}

	}

}
