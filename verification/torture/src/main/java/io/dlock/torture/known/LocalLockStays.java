package io.dlock.torture.known;

import java.time.Duration;

import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;

import io.dlock.LockRegistry;

/**
 * A thread hangs with a lock whose lease ends. Another of the same process wants it.
 */
final class LocalLockStays implements KnownBug {

	private static final Duration LEASE = Duration.ofSeconds(5);

	private static final Duration WAIT = Duration.ofSeconds(10);

	@Override
	public String title() {
		return "Spring Integration: when a lease ends, the threads of the same process do not get the lock";
	}

	@Override
	public Class<?> peer() {
		return RedisLockRegistry.class;
	}

	@Override
	public Evidence onPeer(Scene scene) throws Exception {
		RedisLockRegistry registry = new RedisLockRegistry(scene.redis(), "b20", LEASE);
		scene.start(() -> registry.obtain("b20").tryLock()).get();
		boolean same = scene.<Boolean>start(() -> registry.obtain("b20").tryLock(WAIT, LEASE)).get();
		DistributedLock elsewhere = new RedisLockRegistry(scene.redis(), "b20", LEASE).obtain("b20");
		return evidence(same, elsewhere.tryLock());
	}

	@Override
	public Evidence onOurs(Scene scene) throws Exception {
		LockRegistry registry = scene.ourRedis();
		scene.start(() -> Scene.tryAcquire(registry, "b20", Duration.ZERO, LEASE)).get();
		boolean same = scene.start(() -> Scene.tryAcquire(registry, "b20", WAIT, LEASE).isPresent()).get();
		return evidence(same, !same && Scene.isGranted(scene.ourRedis(), "b20"));
	}

	private static Evidence evidence(boolean same, boolean elsewhere) {
		return new Evidence(!same && elsewhere,
				"a thread hung with a lease of 5 s; another of its process %s within 10 s%s".formatted(
						same ? "got the lock" : "did not get the lock",
						elsewhere ? "; a process elsewhere got it at once then" : ""));
	}

}
