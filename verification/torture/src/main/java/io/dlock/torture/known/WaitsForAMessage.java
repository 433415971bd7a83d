package io.dlock.torture.known;

import java.time.Duration;

import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/**
 * A holder dies, and no message announces that the lock is free.
 */
final class WaitsForAMessage implements KnownBug {

	private static final Duration LEASE = Duration.ofSeconds(5);

	private static final Duration WAIT = Duration.ofSeconds(15);

	@Override
	public String title() {
		return "Spring Integration, Redis with notifications: a caller waits for the lock of a dead process until its wait time is over";
	}

	@Override
	public Class<?> peer() {
		return RedisLockRegistry.class;
	}

	@Override
	public Evidence onPeer(Scene scene) throws Exception {
		scene.start(() -> registry(scene).obtain("b22").tryLock()).get();
		RedisLockRegistry waiting = registry(scene);
		return measure(() -> waiting.obtain("b22").tryLock(WAIT, LEASE));
	}

	private static RedisLockRegistry registry(Scene scene) {
		RedisLockRegistry registry = new RedisLockRegistry(scene.redis(), "b22", LEASE);
		registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
		scene.open(registry::destroy);
		return registry;
	}

	@Override
	public Evidence onOurs(Scene scene) throws Exception {
		Scene.require(Scene.tryAcquire(scene.ourRedis(), "b22", Duration.ZERO, LEASE).isPresent());
		return measure(() -> Scene.tryAcquire(scene.ourRedis(), "b22", WAIT, LEASE).isPresent());
	}

	private static Evidence measure(Scene.Action<Boolean> waiting) throws Exception {
		long begin = System.nanoTime();
		boolean granted = waiting.run();
		double seconds = Scene.millisSince(begin) / 1e3;
		return new Evidence(!granted || seconds > 2 * LEASE.toSeconds(),
				"the lease of the dead process had 5 s to run; a caller with a wait time of 15 s %s after %.1f s"
					.formatted(granted ? "got the lock" : "gave up", seconds));
	}

}
