package io.dlock.benchmarks.contender;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson with its defaults: a lock without a lease, which the watchdog renews.
 */
final class RedissonContender implements Contender {

	private final RedissonClient client;

	private final BiFunction<RedissonClient, String, Lock> kind;

	RedissonContender(ServerAddress address, Duration lease, BiFunction<RedissonClient, String, Lock> kind) {
		Config config = new Config();
		config.setLockWatchdogTimeout(lease.toMillis());
		config.useSingleServer().setAddress(address.redisUri());
		this.client = Redisson.create(config);
		this.kind = kind;
	}

	@Override
	public ContenderLock open(String key) {
		return new JavaLock(this.kind.apply(this.client, "redisson:" + key));
	}

	@Override
	public void close() {
		this.client.shutdown(0, 2, TimeUnit.SECONDS);
	}

}
