package io.dlock.benchmarks.contender;

import java.util.function.Function;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A client and the connections that have to be closed after it.
 *
 * @param client the client
 * @param connections its connections
 * @param <T> the type of the client
 */
record Connected<T>(T client, Runnable connections) implements AutoCloseable {

	static <T> Connected<T> toRedis(ServerAddress address, Function<RedisConnectionFactory, T> client) {
		LettuceConnectionFactory factory = address.connectionFactory();
		return new Connected<>(client.apply(factory), factory::destroy);
	}

	static <T> Connected<T> toPostgres(ServerAddress address, Function<HikariDataSource, T> client) {
		HikariDataSource pool = address.pool();
		return new Connected<>(client.apply(pool), pool::close);
	}

	@Override
	public void close() {
		this.connections.run();
	}

}
