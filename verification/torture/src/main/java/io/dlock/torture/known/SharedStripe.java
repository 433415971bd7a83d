package io.dlock.torture.known;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;

import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;

import io.dlock.LockHandle;
import io.dlock.LockRegistry;

/**
 * Keys share local locks.
 */
final class SharedStripe implements KnownBug {

	private static final int KEYS = 5_000;

	@Override
	public String title() {
		return "Spring Integration, default settings: a lock on one key blocks another key in the same process";
	}

	@Override
	public Class<?> peer() {
		return RedisLockRegistry.class;
	}

	@Override
	public Evidence onPeer(Scene scene) throws Exception {
		Evidence redis = search(scene, "Redis", new RedisLockRegistry(scene.redis(), "b18")::obtain);
		Evidence jdbc = search(scene, "JDBC",
				new JdbcLockRegistry(Connections.springIntegration(scene.postgres()))::obtain);
		return new Evidence(redis.reproduced() || jdbc.reproduced(), redis.text() + "; " + jdbc.text());
	}

	/**
	 * Only the key "0" is held. A key that is refused is tried for a second.
	 */
	private static Evidence search(Scene scene, String store, Function<String, Lock> locks) throws Exception {
		locks.apply("0").lock();
		for (int i = 1; i < KEYS; i++) {
			String key = Integer.toString(i);
			Boolean granted = scene.start(() -> tryLock(locks.apply(key), Duration.ZERO)).get();
			if (!granted && !scene.start(() -> tryLock(locks.apply(key), Duration.ofSeconds(1))).get()) {
				locks.apply("0").unlock();
				boolean afterwards = scene.start(() -> tryLock(locks.apply(key), Duration.ZERO)).get();
				return new Evidence(afterwards,
						"%s: while one thread held \"0\", another could not get \"%s\" for a second, and %s when \"0\" was released"
							.formatted(store, key, afterwards ? "got it" : "did not"));
			}
		}
		return new Evidence(false, store + ": none of " + KEYS + " keys is refused while \"0\" is held");
	}

	private static Boolean tryLock(Lock lock, Duration wait) throws InterruptedException {
		boolean locked = lock.tryLock(wait.toNanos(), TimeUnit.NANOSECONDS);
		if (locked) {
			lock.unlock();
		}
		return locked;
	}

	@Override
	public Evidence onOurs(Scene scene) {
		LockRegistry registry = scene.ourRedis();
		Scene.require(Scene.tryAcquire(registry, "0", Duration.ZERO, Duration.ofMinutes(10)).isPresent());
		int refused = 0;
		for (int i = 1; i < KEYS; i++) {
			Optional<LockHandle> handle = Scene.tryAcquire(registry, Integer.toString(i), Duration.ZERO,
					Duration.ofSeconds(10));
			handle.ifPresent(LockHandle::release);
			refused += handle.isPresent() ? 0 : 1;
		}
		return new Evidence(refused > 0,
				"Redis: %d of %d keys are refused while \"0\" is held".formatted(refused, KEYS - 1));
	}

}
