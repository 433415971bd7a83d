package io.dlock.torture.client;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

import io.dlock.torture.history.Event;

/**
 * ShedLock, with the time of the database and the safe release of Redis. It skips and
 * never waits: the waiting is a loop of ours around it. Its keep-alive refuses leases
 * shorter than thirty seconds, so nothing is renewed.
 */
final class ShedLockContender implements Contender {

	private static final Duration REDIS_TIMEOUT = Duration.ofMillis(100);

	private static final Duration POLL = Duration.ofMillis(20);

	private final LockProvider provider;

	private final Duration timeout;

	private final Runnable connections;

	private ShedLockContender(LockProvider provider, Duration timeout, Runnable connections) {
		this.provider = provider;
		this.timeout = timeout;
		this.connections = connections;
	}

	static ShedLockContender connect(StoreAddress address) {
		if (address.isRedis()) {
			LettuceConnectionFactory factory = address.connectionFactory(REDIS_TIMEOUT);
			return new ShedLockContender(new RedisLockProvider.Builder(factory).safeUpdate(true).build(), REDIS_TIMEOUT,
					factory::destroy);
		}
		HikariDataSource pool = address.poolWithTables();
		return new ShedLockContender(new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
			.withJdbcTemplate(new JdbcTemplate(pool))
			.usingDbTime()
			.build()), StoreAddress.JDBC_TIMEOUT, pool::close);
	}

	@Override
	public Abilities abilities() {
		return new Abilities(false, false, false, false, this.timeout.toNanos(), POLL.toNanos());
	}

	@Override
	public Outcome acquire(LockCall call) {
		return Peers.acquire(() -> {
			long begin = System.nanoTime();
			Optional<SimpleLock> lock = tryLock(call);
			while (lock.isEmpty() && System.nanoTime() - begin < call.waitTime().toNanos()) {
				TimeUnit.NANOSECONDS.sleep(POLL.toNanos());
				lock = tryLock(call);
			}
			return lock.map((held) -> new Held(held, Belief.now(call))).orElse(null);
		});
	}

	private Optional<SimpleLock> tryLock(LockCall call) {
		return this.provider.lock(new LockConfiguration(Instant.now(), call.key(), call.lease(), Duration.ZERO));
	}

	@Override
	public void close() {
		this.connections.run();
	}

	private record Held(SimpleLock lock, Belief belief) implements Holding {

		@Override
		public boolean isValid() {
			return this.belief.isHeld();
		}

		@Override
		public Event release() {
			return Peers.release(this.lock::unlock);
		}

	}

}
