package io.dlock.torture.client;

import java.time.Duration;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
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
import io.dlock.torture.server.StoreType;

/**
 * The lock registries of Spring Integration: that of Redis with notifications, which the
 * manual prefers, or without, and its own renewal; that of JDBC with the statement the
 * reference manual advises and renewed by the holder. A lock that is not to be renewed
 * comes from a second registry without renewal.
 */
final class SpringIntegrationContender implements Contender {

	private static final Duration REDIS_TIMEOUT = Duration.ofMillis(100);

	private static final Duration POLL = Duration.ofMillis(100);

	/** With the default of 256, keys of the bed could share a local lock. */
	private static final int STRIPES = 65_535;

	private static final String INSERT = """
			INSERT INTO %sLOCK (REGION, LOCK_KEY, CLIENT_ID, CREATED_DATE, EXPIRED_AFTER)
			VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING""";

	private final LockRegistry<DistributedLock> renewed;

	private final LockRegistry<DistributedLock> leased;

	private final @Nullable Consumer<String> renewal;

	private final Duration timeout;

	private final Runnable connections;

	private SpringIntegrationContender(LockRegistry<DistributedLock> renewed, LockRegistry<DistributedLock> leased,
			@Nullable Consumer<String> renewal, Duration timeout, Runnable connections) {
		this.renewed = renewed;
		this.leased = leased;
		this.renewal = renewal;
		this.timeout = timeout;
		this.connections = connections;
	}

	static SpringIntegrationContender connect(StoreAddress address, Duration lease, boolean spin) {
		return address.type().isRedis()
				? redis(address, lease, spin ? RedisLockType.SPIN_LOCK : RedisLockType.PUB_SUB_LOCK)
				: jdbc(address, lease);
	}

	private static SpringIntegrationContender redis(StoreAddress address, Duration lease, RedisLockType type) {
		LettuceConnectionFactory factory = address.connectionFactory(REDIS_TIMEOUT);
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setDaemon(true);
		scheduler.initialize();
		RedisLockRegistry renewed = redis(factory, lease, type);
		renewed.setRenewalTaskScheduler(scheduler);
		RedisLockRegistry leased = redis(factory, lease, type);
		return new SpringIntegrationContender(renewed, leased, null, REDIS_TIMEOUT.multipliedBy(2), () -> {
			renewed.destroy();
			leased.destroy();
			scheduler.shutdown();
			factory.destroy();
		});
	}

	private static RedisLockRegistry redis(LettuceConnectionFactory factory, Duration lease, RedisLockType type) {
		RedisLockRegistry registry = new RedisLockRegistry(factory, "spring-integration", lease);
		registry.setRedisLockType(type);
		registry.setCacheCapacity(STRIPES);
		return registry;
	}

	private static SpringIntegrationContender jdbc(StoreAddress address, Duration lease) {
		HikariDataSource pool = address.poolWithTimeout();
		DefaultLockRepository repository = new DefaultLockRepository(pool);
		repository.setTransactionManager(new JdbcTransactionManager(pool));
		if (address.type() == StoreType.POSTGRES) {
			repository.setInsertQuery(INSERT.formatted(DefaultLockRepository.DEFAULT_TABLE_PREFIX));
		}
		// a client may be started while its store is down
		repository.setCheckDatabaseOnStart(false);
		repository.afterPropertiesSet();
		repository.afterSingletonsInstantiated();
		repository.start();
		JdbcLockRegistry registry = new JdbcLockRegistry(repository, lease);
		registry.setCacheCapacity(STRIPES);
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
		return Peers.acquire(() -> {
			long begin = System.nanoTime();
			return lock.tryLock(call.waitTime(), call.lease())
					? new Held(lock, call, this.renewal, AssumedLease.since(begin, call)) : null;
		});
	}

	@Override
	public void close() {
		this.connections.run();
	}

	/**
	 * Renewed by the registry, it is believed to be held until it is released; renewed by
	 * the holder, for a lease from the last renewal that did not fail.
	 */
	private static final class Held implements Holding {

		private static final int RENEWALS_PER_LEASE = 3;

		private final DistributedLock lock;

		private final LockCall call;

		private final @Nullable Consumer<String> renewal;

		private AssumedLease assumed;

		private long tried;

		private boolean lost;

		Held(DistributedLock lock, LockCall call, @Nullable Consumer<String> renewal, AssumedLease assumed) {
			this.lock = lock;
			this.call = call;
			this.renewal = renewal;
			this.assumed = assumed;
			this.tried = assumed.since();
		}

		@Override
		public boolean isValid() {
			if (this.renewal == null || !this.call.renew()) {
				return this.assumed.isHeld();
			}
			if (!this.lost && System.nanoTime() - this.tried > this.call.lease().toNanos() / RENEWALS_PER_LEASE) {
				renew(this.renewal);
			}
			return !this.lost && this.assumed.age() < this.call.lease().toNanos();
		}

		private void renew(Consumer<String> renewal) {
			AssumedLease renewed = AssumedLease.now(this.call);
			this.tried = renewed.since();
			try {
				renewal.accept(this.call.key());
				this.assumed = renewed;
			}
			catch (IllegalStateException ex) {
				this.lost = true;
			}
			catch (RuntimeException ex) {
				// held until the lease is over
			}
		}

		@Override
		public Event release() {
			return Peers.release(this.lock::unlock);
		}

	}

}
