package io.dlock.benchmarks.contender;

import java.util.concurrent.locks.Lock;

/**
 * A lock that is a {@link Lock}.
 */
record JavaLock(Lock lock) implements ContenderLock {

	@Override
	public void acquire() {
		this.lock.lock();
	}

	@Override
	public boolean tryAcquire() {
		return this.lock.tryLock();
	}

	@Override
	public void release() {
		this.lock.unlock();
	}

}
