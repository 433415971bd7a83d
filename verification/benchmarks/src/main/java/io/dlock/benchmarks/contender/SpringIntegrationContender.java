package io.dlock.benchmarks.contender;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * The lock registries of Spring Integration.
 */
final class SpringIntegrationContender implements Contender {

	/**
	 * The statement that the reference manual advises for PostgreSQL.
	 */
	private static final String INSERT = """
			INSERT INTO %sLOCK (REGION, LOCK_KEY, CLIENT_ID, CREATED_DATE, EXPIRED_AFTER)
			VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING""";

	private final Connected<? extends LockRegistry<?>> registry;

	private SpringIntegrationContender(Connected<? extends LockRegistry<?>> registry) {
		this.registry = registry;
	}

	static SpringIntegrationContender connect(ServerAddress address, Duration lease) {
		return new SpringIntegrationContender(switch (address.backend()) {
			case REDIS -> Connected.toRedis(address, (factory) -> {
				RedisLockRegistry registry = new RedisLockRegistry(factory, "spring-integration", lease);
				registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
				return registry;
			});
			case POSTGRES -> Connected.toPostgres(address, (pool) -> jdbc(pool, lease));
		});
	}

	private static JdbcLockRegistry jdbc(HikariDataSource pool, Duration lease) {
		DefaultLockRepository repository = new DefaultLockRepository(pool);
		repository.setTransactionManager(new JdbcTransactionManager(pool));
		repository.setInsertQuery(INSERT.formatted(DefaultLockRepository.DEFAULT_TABLE_PREFIX));
		repository.afterPropertiesSet();
		repository.afterSingletonsInstantiated();
		repository.start();
		return new JdbcLockRegistry(repository, lease);
	}

	@Override
	public ContenderLock open(String key) {
		return new JavaLock(this.registry.client().obtain(key));
	}

	@Override
	public void close() {
		if (this.registry.client() instanceof RedisLockRegistry redis) {
			redis.destroy();
		}
		this.registry.close();
	}

}
