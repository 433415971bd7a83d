package io.dlock.benchmarks.contender;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * ShedLock, which skips and never waits: the waiting is a loop of ours around it.
 */
final class ShedLockContender implements Contender {

	private final Connected<LockProvider> provider;

	private final Duration lease;

	private final Polling polling;

	private ShedLockContender(Connected<LockProvider> provider, Duration lease, Polling polling) {
		this.provider = provider;
		this.lease = lease;
		this.polling = polling;
	}

	static ShedLockContender connect(ServerAddress address, Duration lease) {
		Connected<LockProvider> provider = switch (address.backend()) {
			case REDIS -> Connected.toRedis(address,
					(factory) -> new RedisLockProvider.Builder(factory).safeUpdate(true).build());
			case POSTGRES -> Connected.toPostgres(address,
					(pool) -> new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
						.withJdbcTemplate(new JdbcTemplate(pool))
						.usingDbTime()
						.build()));
		};
		return new ShedLockContender(provider, lease, Polling.of(address.backend()));
	}

	@Override
	public ContenderLock open(String key) {
		return new Held(key);
	}

	@Override
	public void close() {
		this.provider.close();
	}

	/**
	 * The lock of one thread.
	 */
	private final class Held implements ContenderLock {

		private final String key;

		private @Nullable SimpleLock lock;

		Held(String key) {
			this.key = key;
		}

		@Override
		public void acquire() throws InterruptedException {
			ShedLockContender.this.polling.until(this::tryAcquire);
		}

		@Override
		public boolean tryAcquire() {
			Optional<SimpleLock> acquired = ShedLockContender.this.provider.client()
				.lock(new LockConfiguration(Instant.now(), this.key, ShedLockContender.this.lease, Duration.ZERO));
			this.lock = acquired.orElse(null);
			return acquired.isPresent();
		}

		@Override
		public void release() {
			SimpleLock held = this.lock;
			if (held != null) {
				this.lock = null;
				held.unlock();
			}
		}

	}

}
