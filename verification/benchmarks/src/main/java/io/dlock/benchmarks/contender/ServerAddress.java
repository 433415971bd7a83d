package io.dlock.benchmarks.contender;

import java.util.List;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A running server, and how the contenders connect to it.
 *
 * @param backend what it is
 * @param host its host
 * @param port its port
 */
public record ServerAddress(Backend backend, String host, int port) {

	/**
	 * The connections of a contender's pool, the same for all.
	 */
	public static final int POOL_SIZE = 16;

	private static final String USERNAME = "postgres";

	private static final String PASSWORD = "dlock";

	public static ServerAddress parse(String text) {
		List<String> parts = List.of(text.split(":", -1));
		return new ServerAddress(Backend.of(parts.get(0)), parts.get(1), Integer.parseInt(parts.get(2)));
	}

	@Override
	public String toString() {
		return this.backend.label() + ":" + this.host + ":" + this.port;
	}

	/**
	 * The same server behind a proxy.
	 * @param proxyPort the port of the proxy
	 * @return its address
	 */
	public ServerAddress behind(int proxyPort) {
		return new ServerAddress(this.backend, "127.0.0.1", proxyPort);
	}

	public String redisUri() {
		return "redis://" + this.host + ":" + this.port;
	}

	/**
	 * A connection factory as Spring Boot makes it: one connection for all threads.
	 * @return the factory, started
	 */
	public LettuceConnectionFactory connectionFactory() {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(this.host, this.port);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	/**
	 * A pool to the database.
	 * @return the pool
	 */
	public HikariDataSource pool() {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl("jdbc:postgresql://" + this.host + ":" + this.port + "/postgres");
		config.setUsername(USERNAME);
		config.setPassword(PASSWORD);
		config.setMaximumPoolSize(POOL_SIZE);
		return new HikariDataSource(config);
	}

}
