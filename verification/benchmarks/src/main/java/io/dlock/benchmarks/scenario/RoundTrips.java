package io.dlock.benchmarks.scenario;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import org.HdrHistogram.Histogram;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ServerAddress;
import io.dlock.benchmarks.report.ScenarioNames;

/**
 * The cheapest question a client can ask: {@code PING}, or {@code SELECT 1}.
 */
final class RoundTrips {

	/**
	 * Listed among the contenders: between two of these the client and the server sleep.
	 */
	static final String AFTER_PAUSE = "round trip after 1 ms";

	private static final int WARM_UP = 3_000;

	private static final int MEASURED = 5_000;

	private static final int PAUSED = 300;

	private RoundTrips() {
	}

	static Map<String, Histogram> measure(ServerAddress address) throws InterruptedException {
		return (address.backend() == Backend.REDIS) ? redis(address) : postgres(address);
	}

	private static Map<String, Histogram> redis(ServerAddress address) throws InterruptedException {
		RedisClient client = RedisClient.create(address.redisUri());
		try {
			RedisCommands<String, String> redis = client.connect().sync();
			return time(redis::ping);
		}
		finally {
			client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
		}
	}

	private static Map<String, Histogram> postgres(ServerAddress address) throws InterruptedException {
		try (HikariDataSource pool = address.pool();
				Connection connection = pool.getConnection();
				PreparedStatement statement = connection.prepareStatement("SELECT 1")) {
			return time(() -> statement.executeQuery().close());
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static <E extends Exception> Map<String, Histogram> time(Question<E> question)
			throws E, InterruptedException {
		time(question, WARM_UP, 0);
		return Map.of(ScenarioNames.ROUND_TRIP, time(question, MEASURED, 0), AFTER_PAUSE, time(question, PAUSED, 1));
	}

	private static <E extends Exception> Histogram time(Question<E> question, int times, long pauseMillis)
			throws E, InterruptedException {
		Histogram nanos = new Histogram(3);
		for (int i = 0; i < times; i++) {
			TimeUnit.MILLISECONDS.sleep(pauseMillis);
			long start = System.nanoTime();
			question.ask();
			nanos.recordValue(System.nanoTime() - start);
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
