package io.dlock.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.redis.RedisClusterIntegrationTests.Client;
import io.dlock.test.JedisFactories;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * A master, replicas that stand still for a while, and stores whose locks have to be
 * acknowledged.
 */
abstract class AbstractRedisAcknowledgementTests {

	static final Duration LEASE = Duration.ofSeconds(100);

	/** For locks that a running replica acknowledges. */
	static final RedisAcknowledgement BY_ONE = RedisAcknowledgement.byReplicas(1, Duration.ofSeconds(10));

	/**
	 * For a replica that stands still. A running one may need longer on a busy machine.
	 */
	static final RedisAcknowledgement HURRIED = RedisAcknowledgement.byReplicas(1, Duration.ofMillis(300));

	static final RedisAcknowledgement BY_DISK = RedisAcknowledgement.byFsync(Duration.ofSeconds(5));

	private final List<AutoCloseable> opened = new ArrayList<>();

	final RedisServer master = opened(RedisServer.start("--repl-diskless-sync-delay", "0"));

	@AfterEach
	void close() throws Exception {
		for (int i = this.opened.size() - 1; i >= 0; i--) {
			this.opened.get(i).close();
		}
	}

	final <T extends AutoCloseable> T opened(T resource) {
		this.opened.add(resource);
		return resource;
	}

	final RedisServer replica() {
		RedisServer replica = opened(RedisServer.start("--repl-diskless-sync-delay", "0"));
		replicate(replica, this.master);
		return replica;
	}

	private static void replicate(RedisServer replica, RedisServer master) {
		RedisClusterIntegrationTests.call(replica, "REPLICAOF", master.host(), Integer.toString(master.port()));
		master.awaitReplicas();
	}

	final RedisLockStore store(Client client, RedisAcknowledgement acknowledgement) {
		return store(new RedisStandaloneConfiguration(this.master.host(), this.master.port()), client, Patience.COMMAND,
				acknowledgement);
	}

	final RedisLockStore store(RedisStandaloneConfiguration server, Client client, Duration timeout,
			RedisAcknowledgement acknowledgement) {
		return store(server, client,
				RedisLockStoreSettings.defaults().withCommandTimeout(timeout).withAcknowledgement(acknowledgement));
	}

	final RedisLockStore store(RedisStandaloneConfiguration server, Client client, RedisLockStoreSettings settings) {
		RedisConnectionFactory factory = (client == Client.JEDIS) ? jedis(server) : LettuceFactories.create(server);
		this.opened.add(() -> {
			if (factory instanceof JedisConnectionFactory jedis) {
				jedis.destroy();
			}
			if (factory instanceof LettuceConnectionFactory lettuce) {
				lettuce.destroy();
			}
		});
		return opened(new RedisLockStore(factory, settings));
	}

	private static JedisConnectionFactory jedis(RedisStandaloneConfiguration server) {
		return JedisFactories.start(new JedisConnectionFactory(server));
	}

	static AcquireCommand command(String key, String owner) {
		return new AcquireCommand(key, owner, LEASE, "holder", "", null, false, null, 9);
	}

	static StoreException unacknowledged(RedisLockStore store, String key, String owner) {
		StoreException failure = catchThrowableOfType(StoreException.class, () -> store.acquire(command(key, owner)));
		assertThat(failure).as("the outcome of " + owner).isNotNull();
		assertThat(failure.effect()).isEqualTo(Effect.UNKNOWN);
		assertThat(failure.isPermanent()).isFalse();
		return failure;
	}

}
