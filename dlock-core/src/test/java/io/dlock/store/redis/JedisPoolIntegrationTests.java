package io.dlock.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * More calls at once than the pool of Jedis carries.
 */
class JedisPoolIntegrationTests {

	private static final int CALLS = 20;

	private final RedisServer server = RedisServer.shared();

	private final TcpProxy proxy = TcpProxy.to(this.server.host(), this.server.port());

	private final ExecutorService callers = Executors.newCachedThreadPool();

	@AfterEach
	void stop() {
		this.callers.shutdownNow();
		this.proxy.close();
	}

	@Test
	void a5CallsWithoutAConnectionAreCongestedWhileRedisAnswers() throws Exception {
		try (RedisLockStore store = connected(Duration.ofSeconds(4))) {
			this.proxy.delayReplies(Duration.ofMillis(1500));
			assertThat(failures(store)).isNotEmpty().allMatch(StoreCongestedException.class::isInstance);
		}
	}

	@Test
	void callsWithoutAConnectionAreNotCongestedWhileRedisIsSilent() throws Exception {
		try (RedisLockStore store = connected(Duration.ofSeconds(1))) {
			this.proxy.blackHole(true);
			assertThat(failures(store)).hasSize(CALLS).noneMatch(StoreCongestedException.class::isInstance);
		}
	}

	private List<StoreException> failures(RedisLockStore store) throws Exception {
		List<Future<?>> calls = new ArrayList<>();
		for (int i = 0; i < CALLS; i++) {
			AcquireCommand command = new AcquireCommand("congested" + i, "owner" + i, Duration.ofMinutes(1), "holder",
					"");
			calls.add(this.callers.submit(() -> {
				store.acquire(command);
				store.release(command.key(), command.owner());
			}));
		}
		List<StoreException> failures = new ArrayList<>();
		for (Future<?> call : calls) {
			try {
				call.get();
			}
			catch (ExecutionException ex) {
				failures.add((StoreException) ex.getCause());
			}
		}
		return failures;
	}

	/**
	 * The store has two connections.
	 */
	private RedisLockStore connected(Duration commandTimeout) {
		GenericObjectPoolConfig<Object> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(1);
		JedisConnectionFactory application = new JedisConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", this.proxy.port()),
				JedisClientConfiguration.builder().usePooling().poolConfig(pool).build());
		return Patience.connected(
				new RedisLockStore(application, RedisLockStoreSettings.defaults().withCommandTimeout(commandTimeout)));
	}

}
