package io.dlock.store.redis;

import java.time.Duration;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.test.LettuceFactories;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ApplicationConnectionsTests {

	@Test
	void inspectionOfAnUnreachableServerIsAFailureOfTheStore() {
		TcpProxy nowhere = TcpProxy.to("127.0.0.1", 1);
		nowhere.close();
		LettuceConnectionFactory lettuce = LettuceFactories.create("127.0.0.1", nowhere.port());
		try (RedisLockStore store = new RedisLockStore(new UnknownFactory(lettuce),
				RedisLockStoreSettings.defaults().withCommandTimeout(Duration.ofSeconds(2)))) {
			assertThatFails(() -> store.inspection().list(1));
			assertThatFails(() -> store.inspection().diagnose());
		}
		finally {
			lettuce.destroy();
		}
	}

	private static void assertThatFails(ThrowingCallable inspection) {
		assertThatExceptionOfType(StoreException.class).isThrownBy(inspection)
			.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
	}

	/**
	 * A factory of a client that the store does not know.
	 *
	 * @param delegate the factory that it wraps
	 */
	record UnknownFactory(RedisConnectionFactory delegate) implements RedisConnectionFactory {

		@Override
		public RedisConnection getConnection() {
			return this.delegate.getConnection();
		}

		@Override
		public RedisClusterConnection getClusterConnection() {
			return this.delegate.getClusterConnection();
		}

		@Override
		public boolean getConvertPipelineAndTxResults() {
			return this.delegate.getConvertPipelineAndTxResults();
		}

		@Override
		public RedisSentinelConnection getSentinelConnection() {
			return this.delegate.getSentinelConnection();
		}

		@Override
		public DataAccessException translateExceptionIfPossible(RuntimeException ex) {
			return this.delegate.translateExceptionIfPossible(ex);
		}

	}

}
