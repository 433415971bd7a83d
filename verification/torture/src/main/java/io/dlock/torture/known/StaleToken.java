package io.dlock.torture.known;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import io.dlock.LockHandle;
import io.dlock.LockRegistry;
import io.dlock.test.RedisServer;

/**
 * A holder that has lost the lock asks for its token.
 */
final class StaleToken implements KnownBug {

	private static final Duration LEASE = Duration.ofSeconds(5);

	private static final Duration LATER = LEASE.plusMillis(500);

	@Override
	public String title() {
		return "Redisson, fenced lock: a stale holder that asks for its token gets that of the next one";
	}

	@Override
	public Class<?> peer() {
		return Redisson.class;
	}

	@Override
	public Evidence onPeer(Scene scene) {
		RFencedLock stale = connect(scene).getFencedLock("b8");
		RFencedLock next = connect(scene).getFencedLock("b8");
		Long first = stale.tryLockAndGetToken(0, LEASE.toMillis(), TimeUnit.MILLISECONDS);
		Long again = stale.tryLockAndGetToken(0, LEASE.toMillis(), TimeUnit.MILLISECONDS);
		Scene.pause(LATER);
		Long second = next.tryLockAndGetToken(0, LEASE.toMillis(), TimeUnit.MILLISECONDS);
		Long asked = stale.getToken();
		return new Evidence(asked.equals(second),
				"A got token %d (%d when it acquired it again), its lease ended, B got %d, A.getToken() is %d"
					.formatted(first, again, second, asked));
	}

	private static RedissonClient connect(Scene scene) {
		Config config = new Config();
		config.useSingleServer().setAddress("redis://127.0.0.1:" + RedisServer.shared().port());
		RedissonClient client = Redisson.create(config);
		scene.open(client::shutdown);
		return client;
	}

	@Override
	public Evidence onOurs(Scene scene) {
		LockRegistry registry = scene.ourRedis();
		LockHandle stale = Scene.tryAcquire(registry, "b8", Duration.ZERO, LEASE).orElseThrow();
		long first = stale.token();
		Scene.pause(LATER);
		LockHandle next = Scene.tryAcquire(scene.ourRedis(), "b8", Duration.ZERO, LEASE).orElseThrow();
		return new Evidence(stale.token() != first || stale.isValid(),
				"A got token %d, its lease ended, B got %d, A.token() is %d and A.isValid() %s".formatted(first,
						next.token(), stale.token(), stale.isValid()));
	}

}
