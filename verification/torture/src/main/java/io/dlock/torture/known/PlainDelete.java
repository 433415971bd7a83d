package io.dlock.torture.known;

import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

/**
 * A release that does not look whose lock it is.
 */
final class PlainDelete implements KnownBug {

	@Override
	public String title() {
		return "ShedLock, Redis, default settings: a late release deletes the lock of the next holder";
	}

	@Override
	public Class<?> peer() {
		return RedisLockProvider.class;
	}

	@Override
	public Evidence onPeer(Scene scene) {
		return LateRelease.of(new RedisLockProvider(scene.redis()), new RedisLockProvider(scene.redis()),
				new RedisLockProvider(scene.redis()), "b12");
	}

	@Override
	public Evidence onOurs(Scene scene) {
		return LateRelease.of(scene.ourRedis(), scene.ourRedis(), scene.ourRedis(), "b12");
	}

}
