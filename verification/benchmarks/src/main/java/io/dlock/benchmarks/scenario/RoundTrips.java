package io.dlock.benchmarks.scenario;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import org.HdrHistogram.Histogram;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ServerAddress;

/**
 * The cheapest question a client can ask: {@code PING}, or {@code SELECT 1}.
 */
final class RoundTrips {

	/** Among the contenders. */
	static final String LABEL = "one round trip";

	private static final int WARM_UP = 3_000;

	private static final int MEASURED = 5_000;

	private RoundTrips() {
	}

	static Histogram measure(ServerAddress address) {
		return (address.backend() == Backend.REDIS) ? redis(address) : postgres(address);
	}

	private static Histogram redis(ServerAddress address) {
		RedisClient client = RedisClient.create(address.redisUri());
		try {
			RedisCommands<String, String> redis = client.connect().sync();
			return time(redis::ping);
		}
		finally {
			client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
		}
	}

	private static Histogram postgres(ServerAddress address) {
		try (HikariDataSource pool = address.pool();
				Connection connection = pool.getConnection();
				PreparedStatement statement = connection.prepareStatement("SELECT 1")) {
			return time(() -> statement.executeQuery().close());
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static <E extends Exception> Histogram time(Question<E> question) throws E {
		Histogram nanos = new Histogram(3);
		for (int i = 0; i < WARM_UP + MEASURED; i++) {
			long start = System.nanoTime();
			question.ask();
			if (i >= WARM_UP) {
				nanos.recordValue(System.nanoTime() - start);
			}
		}
		return nanos;
	}

	/**
	 * One round trip.
	 *
	 * @param <E> what may go wrong
	 */
	@FunctionalInterface
	private interface Question<E extends Exception> {

		void ask() throws E;

	}

}
