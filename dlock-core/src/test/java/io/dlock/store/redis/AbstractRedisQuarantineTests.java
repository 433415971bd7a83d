package io.dlock.store.redis;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Quarantine;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * A store with a quarantine, on a Redis server of its own.
 */
abstract class AbstractRedisQuarantineTests {

	static final Duration LEASE = Duration.ofSeconds(4);

	static final Duration LAG = Duration.ofMillis(500);

	RedisServer server;

	LettuceConnectionFactory factory;

	RedisLockStore store;

	@AfterEach
	void stop() {
		if (this.store != null) {
			this.store.close();
		}
		if (this.factory != null) {
			this.factory.destroy();
		}
		if (this.server != null) {
			this.server.close();
		}
	}

	final void start(Duration longestLease, String... arguments) {
		this.server = RedisServer.start(arguments);
		this.factory = LettuceFactories.create(this.server.host(), this.server.port());
		this.store = store(this.factory, longestLease);
	}

	static RedisLockStore store(LettuceConnectionFactory factory, Duration longestLease) {
		return Patience.connected(new RedisLockStore(factory,
				AbstractRedisStoreTests.patient().withQuarantine(new Quarantine(longestLease, LAG))));
	}

	static AcquireResult acquire(RedisLockStore store, String key, String owner) {
		return store.acquire(new AcquireCommand(key, owner, LEASE, "holder", ""));
	}

	static Duration quarantined(RedisLockStore store, String key, String owner) {
		StoreQuarantinedException refusal = catchThrowableOfType(StoreQuarantinedException.class,
				() -> acquire(store, key, owner));
		assertThat(refusal).as("the answer to " + owner).isNotNull();
		assertThat(refusal.effect()).isEqualTo(Effect.NONE);
		assertThat(refusal.isPermanent()).isFalse();
		return refusal.remaining();
	}

	static void grantedAtLast(RedisLockStore store, String key, String owner) {
		Awaitility.await()
			.ignoreException(StoreQuarantinedException.class)
			.until(() -> acquire(store, key, owner) instanceof AcquireResult.Granted);
	}

}
