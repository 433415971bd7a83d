package io.dlock.torture.known;

import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.BooleanSupplier;

import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;

import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.TcpProxy;

/**
 * A renewal fails once, because the store is away for seven seconds of a lease of thirty.
 */
final class KeepAliveEnds implements KnownBug {

	/** The shortest that the peer accepts. */
	private static final Duration LEASE = Duration.ofSeconds(30);

	/** The peer renews after 15 seconds, we do after 10. */
	private static final Duration AWAY = Duration.ofSeconds(9);

	private static final Duration BACK = Duration.ofSeconds(16);

	private static final Duration END = Duration.ofSeconds(40);

	@Override
	public String title() {
		return "ShedLock, keep-alive: one failed extension ends all others, and the holder is not told";
	}

	@Override
	public Class<?> peer() {
		return KeepAliveLockProvider.class;
	}

	@Override
	public Evidence onPeer(Scene scene) {
		TcpProxy link = scene.linkToRedis();
		ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
		scene.open(executor::shutdownNow);
		LockProvider holder = new KeepAliveLockProvider(safe(scene, link.port()), executor);
		LockProvider other = new RedisLockProvider.Builder(scene.redis()).safeUpdate(true).build();
		long begin = System.nanoTime();
		SimpleLock held = holder.lock(Connections.lock("b14", LEASE)).orElseThrow();
		Evidence evidence = watch(link, begin, () -> other.lock(Connections.lock("b14", LEASE)).isPresent(), () -> true,
				"has no means to know");
		int scheduled = executor.getQueue().size() + executor.getActiveCount();
		held.unlock();
		return new Evidence(evidence.reproduced() && scheduled == 0,
				evidence.text() + "; %d extensions were still scheduled".formatted(scheduled));
	}

	private static RedisLockProvider safe(Scene scene, int port) {
		return new RedisLockProvider.Builder(scene.redis(port)).safeUpdate(true).build();
	}

	@Override
	public Evidence onOurs(Scene scene) {
		TcpProxy link = scene.linkToRedis();
		LockRegistry registry = scene
			.ours(new RedisLockStore(scene.redis(link.port()), RedisLockStoreSettings.defaults()));
		LockRegistry other = scene.ourRedis();
		long begin = System.nanoTime();
		LockHandle held = registry
			.tryAcquire(LockRequest.builder("b14").waitTime(Duration.ZERO).lease(LEASE).renew(true).build())
			.orElseThrow();
		return watch(link, begin, () -> Scene.isGranted(other, "b14"), held::isValid, "says it is valid");
	}

	private static Evidence watch(TcpProxy link, long begin, BooleanSupplier other, BooleanSupplier believed,
			String belief) {
		pauseUntil(begin, AWAY);
		link.refuse(true);
		link.cutAll();
		pauseUntil(begin, BACK);
		link.heal();
		while (Scene.millisSince(begin) < END.toMillis()) {
			if (other.getAsBoolean()) {
				return new Evidence(believed.getAsBoolean(),
						"the store was away from second %d to %d; at second %.1f B got the lock that A holds, who %s"
							.formatted(AWAY.toSeconds(), BACK.toSeconds(), Scene.millisSince(begin) / 1e3,
									believed.getAsBoolean() ? belief : "knows of it"));
			}
			Scene.pause(Duration.ofMillis(100));
		}
		return new Evidence(false, "the store was away from second %d to %d; A still held the lock at second %d"
			.formatted(AWAY.toSeconds(), BACK.toSeconds(), END.toSeconds()));
	}

	private static void pauseUntil(long begin, Duration after) {
		Scene.pause(after.minusMillis(Scene.millisSince(begin)));
	}

}
