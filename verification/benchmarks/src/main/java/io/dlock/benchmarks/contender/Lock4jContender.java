package io.dlock.benchmarks.contender;

import java.time.Duration;
import java.util.List;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.LockTemplate;
import com.baomidou.lock.executor.RedisTemplateLockExecutor;
import com.baomidou.lock.spring.boot.autoconfigure.Lock4jProperties;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * lock4j on a {@code RedisTemplate}. Its auto-configuration is of Spring Boot 2; the
 * template itself runs on Spring 7.
 */
final class Lock4jContender implements Contender {

	private static final long WAIT = Duration.ofMinutes(1).toMillis();

	private final Connected<LockTemplate> template;

	private final long lease;

	Lock4jContender(ServerAddress address, Duration lease) {
		this.lease = lease.toMillis();
		this.template = Connected.toRedis(address, (factory) -> {
			Lock4jProperties properties = new Lock4jProperties();
			LockTemplate created = new LockTemplate();
			created.setProperties(properties);
			created.setExecutors(List.of(new RedisTemplateLockExecutor(new StringRedisTemplate(factory), properties)));
			initialize(created);
			return created;
		});
	}

	private static void initialize(LockTemplate template) {
		try {
			template.afterPropertiesSet();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public ContenderLock open(String key) {
		return new Held("lock4j:" + key);
	}

	@Override
	public void close() {
		this.template.close();
	}

	/**
	 * The lock of one thread.
	 */
	private final class Held implements ContenderLock {

		private final String key;

		private @Nullable LockInfo lock;

		Held(String key) {
			this.key = key;
		}

		@Override
		public void acquire() {
			do {
				this.lock = Lock4jContender.this.template.client().lock(this.key, Lock4jContender.this.lease, WAIT);
			}
			while (this.lock == null);
		}

		@Override
		public void release() {
			LockInfo held = this.lock;
			this.lock = null;
			if (held != null && !Lock4jContender.this.template.client().releaseLock(held)) {
				throw new IllegalStateException("The lease of '" + this.key + "' was over");
			}
		}

	}

}
