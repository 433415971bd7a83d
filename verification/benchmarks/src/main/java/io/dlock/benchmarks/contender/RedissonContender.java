package io.dlock.benchmarks.contender;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;

import org.redisson.Redisson;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson with its defaults: a lock without a lease, which the watchdog renews.
 */
final class RedissonContender implements Contender {

	private final RedissonClient client;

	private final Duration lease;

	private final BiFunction<RedissonClient, String, Lock> kind;

	RedissonContender(ServerAddress address, Duration lease, BiFunction<RedissonClient, String, Lock> kind) {
		this.client = connect(address, lease);
		this.lease = lease;
		this.kind = kind;
	}

	static RedissonClient connect(ServerAddress address, Duration lease) {
		Config config = new Config();
		config.setLockWatchdogTimeout(lease.toMillis());
		config.useSingleServer().setAddress(address.redisUri());
		return Redisson.create(config);
	}

	static void shutDown(RedissonClient client) {
		client.shutdown(0, 2, TimeUnit.SECONDS);
	}

	@Override
	public ContenderLock open(String key) {
		return new JavaLock(this.kind.apply(this.client, "redisson:" + key));
	}

	@Override
	public ContenderLock open(String key, LockKind kind) {
		String name = "redisson:" + key;
		return switch (kind) {
			case EXCLUSIVE -> open(key);
			case READ -> new JavaLock(this.client.getReadWriteLock(name).readLock());
			case WRITE -> new JavaLock(this.client.getReadWriteLock(name).writeLock());
			case TWO_KEYS -> new JavaLock(
					this.client.getMultiLock(this.client.getLock(name + "-a"), this.client.getLock(name + "-b")));
			case PERMIT -> permit(this.client.getPermitExpirableSemaphore(name), kind.places());
		};
	}

	/**
	 * A permit without a lease would not end with its process, and none is renewed.
	 */
	private ContenderLock permit(RPermitExpirableSemaphore semaphore, int permits) {
		semaphore.trySetPermits(permits);
		return new GrantedLock(() -> {
			String id = semaphore.acquire(this.lease.toMillis(), TimeUnit.MILLISECONDS);
			return () -> semaphore.release(id);
		});
	}

	@Override
	public void close() {
		shutDown(this.client);
	}

}
