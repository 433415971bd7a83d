package io.dlock.benchmarks.contender;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;

/**
 * The floor on Redis: {@code SET NX PX} and a compare-and-delete script on one connection
 * that all threads share. No waiting, no renewal, no fencing, no reentrancy.
 */
final class RawRedisContender implements Contender {

	private static final String COMPARE_AND_DELETE = """
			if redis.call('get', KEYS[1]) == ARGV[1] then
				return redis.call('del', KEYS[1])
			end
			return 0
			""";

	private final RedisClient client;

	private final RedisCommands<String, String> redis;

	private final String release;

	private final SetArgs options;

	private final Polling polling = Polling.of(Backend.REDIS);

	@SuppressWarnings("resource") // closed with the client
	RawRedisContender(ServerAddress address, Duration lease) {
		this.client = RedisClient.create(address.redisUri());
		StatefulRedisConnection<String, String> connection = this.client.connect();
		this.redis = connection.sync();
		this.release = this.redis.scriptLoad(COMPARE_AND_DELETE);
		this.options = SetArgs.Builder.nx().px(lease.toMillis());
	}

	@Override
	public ContenderLock open(String key) {
		return new Held("raw:" + key);
	}

	@Override
	public void close() {
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
	}

	/**
	 * The lock of one thread.
	 */
	private final class Held implements ContenderLock {

		private final String key;

		private String owner = "";

		Held(String key) {
			this.key = key;
		}

		@Override
		public void acquire() throws InterruptedException {
			this.owner = Long.toHexString(ThreadLocalRandom.current().nextLong());
			RawRedisContender.this.polling.until(() -> "OK"
				.equals(RawRedisContender.this.redis.set(this.key, this.owner, RawRedisContender.this.options)));
		}

		@Override
		public void release() {
			Long deleted = RawRedisContender.this.redis.evalsha(RawRedisContender.this.release,
					ScriptOutputType.INTEGER, new String[] { this.key }, this.owner);
			if (deleted == null || deleted != 1) {
				throw new IllegalStateException("The lease of '" + this.key + "' was over");
			}
		}

	}

}
