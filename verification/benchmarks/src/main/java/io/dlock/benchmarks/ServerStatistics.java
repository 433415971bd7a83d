package io.dlock.benchmarks;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.function.ToLongFunction;

import com.zaxxer.hikari.HikariDataSource;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;

import io.dlock.benchmarks.contender.Backend;
import io.dlock.benchmarks.contender.ServerAddress;

/**
 * Asks a server what it has done and what it keeps.
 */
public final class ServerStatistics {

	private static final List<String> TABLES = List.of("dlock_lock", "raw_lock", "shedlock", "int_lock");

	private final ServerAddress address;

	public ServerStatistics(ServerAddress address) {
		this.address = address;
	}

	/**
	 * The number of operations that the server executed so far: on Redis commands, those
	 * inside scripts included, on PostgreSQL transactions.
	 * @return the number
	 */
	public long commands() {
		if (this.address.backend() == Backend.POSTGRES) {
			return number(
					"SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()");
		}
		return redis((redis) -> redis.info("commandstats")
			.lines()
			.filter((line) -> line.contains("calls="))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf("calls=") + 6, line.indexOf(','))))
			.sum());
	}

	/**
	 * The locks of dlock, held or not, that the server knows.
	 * @return the number
	 */
	public long locks() {
		return (this.address.backend() == Backend.POSTGRES) ? number("SELECT count(*) FROM dlock_lock")
				: redis((redis) -> redis.keys("dlock:*:lock:*").size());
	}

	/**
	 * Everything that is kept in the server.
	 * @return the number of keys or rows
	 */
	public long entries() {
		return (this.address.backend() == Backend.POSTGRES)
				? TABLES.stream().mapToLong((table) -> number("SELECT count(*) FROM " + table)).sum()
				: redis(RedisCommands::dbsize);
	}

	/**
	 * Let the retention of free locks pass at once.
	 */
	public void age() {
		if (this.address.backend() == Backend.POSTGRES) {
			number("WITH aged AS (UPDATE dlock_lock SET lease_until = lease_until - INTERVAL '1 day' RETURNING 1) "
					+ "SELECT count(*) FROM aged");
		}
	}

	/**
	 * Forget all locks.
	 */
	public void clear() {
		if (this.address.backend() == Backend.POSTGRES) {
			TABLES.forEach((table) -> number(
					"WITH gone AS (DELETE FROM %s RETURNING 1) SELECT count(*) FROM gone".formatted(table)));
		}
		else {
			redis((redis) -> "OK".equals(redis.flushall()) ? 1 : 0);
		}
	}

	private long redis(ToLongFunction<RedisCommands<String, String>> question) {
		RedisClient client = RedisClient.create(this.address.redisUri());
		try {
			return question.applyAsLong(client.connect().sync());
		}
		finally {
			client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
		}
	}

	private long number(String sql) {
		try (HikariDataSource pool = this.address.pool();
				Connection connection = pool.getConnection();
				Statement statement = connection.createStatement();
				ResultSet result = statement.executeQuery(sql)) {
			result.next();
			return result.getLong(1);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Describe the server.
	 * @return its name and version
	 */
	public String version() {
		if (this.address.backend() == Backend.POSTGRES) {
			long version = number("SELECT current_setting('server_version_num')::bigint");
			return "PostgreSQL %d.%d".formatted(version / 10_000, version % 10_000);
		}
		RedisClient client = RedisClient.create(this.address.redisUri());
		try {
			List<String> info = client.connect().sync().info("server").lines().toList();
			return info.stream()
				.filter((line) -> line.startsWith("redis_version:"))
				.map((line) -> "Redis " + line.substring("redis_version:".length()))
				.findFirst()
				.orElse("Redis");
		}
		finally {
			client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
		}
	}

}
