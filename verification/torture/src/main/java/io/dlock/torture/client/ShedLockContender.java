package io.dlock.torture.client;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

import io.dlock.torture.history.Event;

/**
 * ShedLock, with the time of the database and the safe release of Redis, and a name of
 * its own for each process. It skips and never waits: the waiting is a loop of ours
 * around it. Its keep-alive refuses leases shorter than thirty seconds, so the holder
 * extends the lock itself, as {@code LockExtender} does.
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

	static ShedLockContender connect(StoreAddress address, String instance) {
		if (address.type().isRedis()) {
			LettuceConnectionFactory factory = address.connectionFactory(REDIS_TIMEOUT);
			return new ShedLockContender(new RedisLockProvider.Builder(factory).safeUpdate(true).build(), REDIS_TIMEOUT,
					factory::destroy);
		}
		HikariDataSource pool = address.poolWithTimeout();
		return new ShedLockContender(new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
			.withJdbcTemplate(new JdbcTemplate(pool))
			.usingDbTime()
			.withLockedByValue(instance)
			.build()), StoreAddress.JDBC_TIMEOUT, pool::close);
	}

	@Override
	public Abilities abilities() {
		return new Abilities(false, false, false, true, this.timeout.toNanos(), POLL.toNanos());
	}

	@Override
	public Outcome acquire(LockCall call) {
		return Peers.acquire(() -> {
			long begin = System.nanoTime();
			Held lock = tryLock(call);
			while (lock == null && System.nanoTime() - begin < call.waitTime().toNanos()) {
				TimeUnit.NANOSECONDS.sleep(POLL.toNanos());
				lock = tryLock(call);
			}
			return lock;
		});
	}

	private @Nullable Held tryLock(LockCall call) {
		AssumedLease assumed = AssumedLease.now(call);
		return this.provider.lock(new LockConfiguration(Instant.now(), call.key(), call.lease(), Duration.ZERO))
			.map((lock) -> new Held(call, lock, assumed))
			.orElse(null);
	}

	@Override
	public void close() {
		this.connections.run();
	}

	/**
	 * It counts the lease from before the call: when it returned is later than the lease
	 * began.
	 */
	private static final class Held implements Holding {

		private static final int EXTENSIONS_PER_LEASE = 3;

		private final LockCall call;

		private SimpleLock lock;

		private AssumedLease assumed;

		private long tried;

		private boolean lost;

		Held(LockCall call, SimpleLock lock, AssumedLease assumed) {
			this.call = call;
			this.lock = lock;
			this.assumed = assumed;
			this.tried = assumed.since();
		}

		@Override
		public boolean isValid() {
			if (this.call.renew() && !this.lost
					&& System.nanoTime() - this.tried > this.call.lease().toNanos() / EXTENSIONS_PER_LEASE) {
				extend();
			}
			return !this.lost && this.assumed.age() < this.call.lease().toNanos();
		}

		/**
		 * One that failed may be repeated.
		 */
		private void extend() {
			AssumedLease extended = AssumedLease.now(this.call);
			this.tried = extended.since();
			try {
				this.lock.extend(this.call.lease(), Duration.ZERO).ifPresentOrElse((longer) -> {
					this.lock = longer;
					this.assumed = extended;
				}, () -> this.lost = true);
			}
			catch (RuntimeException ex) {
				// held until the lease is over
			}
		}

		@Override
		public Event release() {
			// it refuses to release what it has refused to extend
			return this.lost ? Event.RELEASED_LOST : Peers.release(this.lock::unlock);
		}

	}

}
