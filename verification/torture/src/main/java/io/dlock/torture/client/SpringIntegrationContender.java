package io.dlock.torture.client;

import java.time.Duration;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import io.dlock.torture.history.Event;

/**
 * The lock registries of Spring Integration: that of Redis with notifications and its own
 * renewal, that of JDBC with the statement the reference manual advises and renewed by
 * the holder. What is not to be renewed comes from a second registry without renewal.
 */
final class SpringIntegrationContender implements Contender {

	private static final Duration REDIS_TIMEOUT = Duration.ofMillis(100);

	private static final Duration POLL = Duration.ofMillis(100);

	private static final String INSERT = """
			INSERT INTO %sLOCK (REGION, LOCK_KEY, CLIENT_ID, CREATED_DATE, EXPIRED_AFTER)
			VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING""";

	private final LockRegistry<DistributedLock> renewed;

	private final LockRegistry<DistributedLock> leased;

	private final Consumer<String> renewal;

	private final Duration timeout;

	private final Runnable connections;

	private SpringIntegrationContender(LockRegistry<DistributedLock> renewed, LockRegistry<DistributedLock> leased,
			Consumer<String> renewal, Duration timeout, Runnable connections) {
		this.renewed = renewed;
		this.leased = leased;
		this.renewal = renewal;
		this.timeout = timeout;
		this.connections = connections;
	}

	static SpringIntegrationContender connect(StoreAddress address, Duration lease) {
		return address.isRedis() ? redis(address, lease) : jdbc(address, lease);
	}

	private static SpringIntegrationContender redis(StoreAddress address, Duration lease) {
		LettuceConnectionFactory factory = address.connectionFactory(REDIS_TIMEOUT);
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setDaemon(true);
		scheduler.initialize();
		RedisLockRegistry renewed = redis(factory, lease);
		renewed.setRenewalTaskScheduler(scheduler);
		RedisLockRegistry leased = redis(factory, lease);
		return new SpringIntegrationContender(renewed, leased, (key) -> {
		}, REDIS_TIMEOUT, () -> {
			renewed.destroy();
			leased.destroy();
			scheduler.shutdown();
			factory.destroy();
		});
	}

	private static RedisLockRegistry redis(LettuceConnectionFactory factory, Duration lease) {
		RedisLockRegistry registry = new RedisLockRegistry(factory, "spring-integration", lease);
		registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
		return registry;
	}

	private static SpringIntegrationContender jdbc(StoreAddress address, Duration lease) {
		HikariDataSource pool = address.poolWithTables();
		DefaultLockRepository repository = new DefaultLockRepository(pool);
		repository.setTransactionManager(new JdbcTransactionManager(pool));
		if (address.type() == StoreAddress.Type.POSTGRES) {
			repository.setInsertQuery(INSERT.formatted(DefaultLockRepository.DEFAULT_TABLE_PREFIX));
		}
		repository.afterPropertiesSet();
		repository.afterSingletonsInstantiated();
		repository.start();
		JdbcLockRegistry registry = new JdbcLockRegistry(repository, lease);
		return new SpringIntegrationContender(registry, registry, registry::renewLock, StoreAddress.JDBC_TIMEOUT,
				() -> {
					repository.stop();
					pool.close();
				});
	}

	@Override
	public Abilities abilities() {
		return new Abilities(false, false, true, true, this.timeout.toNanos(), POLL.toNanos());
	}

	@Override
	public Outcome acquire(LockCall call) {
		DistributedLock lock = (call.renew() ? this.renewed : this.leased).obtain(call.key());
		return Peers.acquire(() -> lock.tryLock(call.waitTime(), call.lease())
				? new Held(lock, call, this.renewal, Belief.now(call)) : null);
	}

	@Override
	public void close() {
		this.connections.run();
	}

	private static final class Held implements Holding {

		private static final int RENEWALS_PER_LEASE = 3;

		private final DistributedLock lock;

		private final LockCall call;

		private final Consumer<String> renewal;

		private final Belief belief;

		private long renewed;

		private boolean lost;

		Held(DistributedLock lock, LockCall call, Consumer<String> renewal, Belief belief) {
			this.lock = lock;
			this.call = call;
			this.renewal = renewal;
			this.belief = belief;
			this.renewed = belief.since();
		}

		@Override
		public boolean isValid() {
			if (this.call.renew() && !this.lost) {
				renew();
			}
			return this.belief.isHeld() && !this.lost;
		}

		private void renew() {
			long now = System.nanoTime();
			if (now - this.renewed > this.call.lease().toNanos() / RENEWALS_PER_LEASE) {
				this.renewed = now;
				try {
					this.renewal.accept(this.call.key());
				}
				catch (RuntimeException ex) {
					this.lost = true;
				}
			}
		}

		@Override
		public Event release() {
			return Peers.release(this.lock::unlock);
		}

	}

}
