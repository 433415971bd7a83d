package io.dlock.torture.client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * An application whose threads share one connection to Redis, on which one of them waits
 * for something that never comes.
 */
final class SharedConnectionApplication implements Application {

	private static final byte[] NOTHING = "torture-nothing".getBytes(StandardCharsets.US_ASCII);

	private static final double NANOS_PER_SECOND = 1e9;

	private final LettuceConnectionFactory factory;

	private final StoreAddress address;

	SharedConnectionApplication(LettuceConnectionFactory factory, StoreAddress address) {
		this.factory = factory;
		this.address = address;
	}

	@Override
	public void rotate(String password) {
		this.address.password().set(password);
	}

	@Override
	public Usage exhaust(Duration time) {
		return new Blocked(this.factory, System.nanoTime() + time.toNanos());
	}

	/**
	 * The connection, which may break or not be there at first: it is blocked again then.
	 */
	private static final class Blocked implements Usage {

		private final LettuceConnectionFactory factory;

		private final long end;

		private @Nullable RedisFuture<Long> behind;

		Blocked(LettuceConnectionFactory factory, long end) {
			this.factory = factory;
			this.end = end;
		}

		@Override
		public boolean isTotal() {
			if (this.behind == null || this.behind.isDone()) {
				this.behind = block();
			}
			return this.behind != null;
		}

		@SuppressWarnings("unchecked")
		private @Nullable RedisFuture<Long> block() {
			try (RedisConnection connection = this.factory.getConnection()) {
				var commands = (RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection();
				RedisFuture<?> waiting = commands.blpop(Math.max(1, this.end - System.nanoTime()) / NANOS_PER_SECOND,
						NOTHING);
				RedisFuture<Long> after = commands.llen(NOTHING);
				return waiting.isDone() ? null : after;
			}
			catch (RuntimeException ex) {
				return null;
			}
		}

		/**
		 * The application had no connection before.
		 */
		@Override
		public void close() {
			this.factory.resetConnection();
		}

	}

}
