package io.dlock.torture.known;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.RedisServer;

/**
 * Many keys are locked once, each for itself, such as the id of an order.
 */
final class CountersStay implements KnownBug {

	private static final int KEYS = 10_000;

	@Override
	public String title() {
		return "Redisson, fenced lock: each key that was ever locked leaves a counter for good";
	}

	@Override
	public Class<?> peer() {
		return Redisson.class;
	}

	@Override
	public Evidence onPeer(Scene scene) {
		int port = scene.open(RedisServer.start()).port();
		Config config = new Config();
		config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
		RedissonClient client = Redisson.create(config);
		scene.open(client::shutdown);
		for (int i = 0; i < KEYS; i++) {
			RFencedLock lock = client.getFencedLock("b24-" + i);
			lock.tryLockAndGetToken(0, 10, TimeUnit.SECONDS);
			lock.unlock();
		}
		return evidence(scene.redis(port));
	}

	@Override
	public Evidence onOurs(Scene scene) {
		int port = scene.open(RedisServer.start()).port();
		LockRegistry registry = scene.ours(new RedisLockStore(scene.redis(port), RedisLockStoreSettings.defaults()));
		for (int i = 0; i < KEYS; i++) {
			Scene.tryAcquire(registry, "b24-" + i, Duration.ZERO, Duration.ofSeconds(10))
				.ifPresent(LockHandle::release);
		}
		return evidence(scene.redis(port));
	}

	private static Evidence evidence(LettuceConnectionFactory redis) {
		Scene.pause(Duration.ofSeconds(12));
		try (RedisConnection connection = redis.getConnection()) {
			Long left = connection.serverCommands().dbSize();
			return new Evidence(left != null && left >= KEYS,
					"%d keys were locked and released once; 12 s later there are %d keys in Redis".formatted(KEYS,
							left));
		}
	}

}
