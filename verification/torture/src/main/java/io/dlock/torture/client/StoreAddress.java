package io.dlock.torture.client;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import reactor.core.publisher.Mono;

import io.dlock.store.Quarantine;
import io.dlock.torture.Arguments;
import io.dlock.torture.server.StoreType;
import io.dlock.torture.server.StoreType.Access;

/**
 * A store, and how the contenders connect to it.
 *
 * @param type what it is
 * @param nodes its addresses, {@code host:port}
 * @param username the user, empty for none
 * @param password its password, which may be changed while a client runs
 * @param database the database, or the name of the master that the Sentinels watch
 * @param quarantine how long the locks are not granted when the store may have forgotten
 * some, {@code null} if they do not care
 * @param wrongClocks how many of its nodes may have a wrong clock
 */
record StoreAddress(StoreType type, List<String> nodes, String username, AtomicReference<String> password,
		String database, @Nullable Quarantine quarantine, int wrongClocks) {

	/** The shortest that the driver of PostgreSQL has. */
	static final Duration JDBC_TIMEOUT = Duration.ofSeconds(1);

	private static final int POOL_SIZE = 16;

	static StoreAddress of(Arguments arguments) {
		String node = arguments.text("host", "127.0.0.1") + ":" + arguments.text("port", "");
		return new StoreAddress(StoreType.of(arguments.text("store")),
				Stream.of(arguments.text("nodes", node).split(",", -1)).toList(), arguments.text("username", ""),
				new AtomicReference<>(arguments.text("password", "")), arguments.text("database", "postgres"),
				quarantine(arguments), arguments.number("wrong-clocks", 0));
	}

	private static @Nullable Quarantine quarantine(Arguments arguments) {
		long longest = arguments.number("longest-lease", 0L);
		return (longest != 0)
				? new Quarantine(Duration.ofMillis(longest), Duration.ofMillis(arguments.number("max-lag", 0L))) : null;
	}

	String currentPassword() {
		return Objects.requireNonNull(this.password.get());
	}

	String host() {
		return host(this.nodes.get(0));
	}

	int port() {
		return port(this.nodes.get(0));
	}

	private static String host(String node) {
		return node.substring(0, node.lastIndexOf(':'));
	}

	private static int port(String node) {
		return Integer.parseInt(node.substring(node.lastIndexOf(':') + 1));
	}

	/**
	 * The addresses of several stores that know nothing of each other, or this one.
	 */
	List<StoreAddress> each() {
		return (this.type.access() != Access.EACH_REDIS) ? List.of(this)
				: this.nodes.stream()
					.map((node) -> new StoreAddress(StoreType.REDIS, List.of(node), this.username, this.password,
							this.database, this.quarantine, 0))
					.toList();
	}

	/**
	 * A connection factory as Spring Boot makes it: one connection for all threads.
	 * @return the factory, started
	 */
	LettuceConnectionFactory connectionFactory() {
		return connectionFactory(LettuceClientConfiguration.builder());
	}

	/**
	 * A connection factory for a contender that has no timeout of its own.
	 * @param timeout how long to wait for the store
	 * @return the factory, started
	 */
	LettuceConnectionFactory connectionFactory(Duration timeout) {
		return connectionFactory(LettuceClientConfiguration.builder().commandTimeout(timeout));
	}

	private LettuceConnectionFactory connectionFactory(LettuceClientConfigurationBuilder client) {
		if (!this.username.isEmpty()) {
			client.redisCredentialsProviderFactory(new CurrentCredentials(this));
		}
		LettuceConnectionFactory factory = new LettuceConnectionFactory(redis(), client.build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private RedisConfiguration redis() {
		return switch (this.type) {
			case REDIS_SENTINEL -> {
				RedisSentinelConfiguration sentinels = new RedisSentinelConfiguration().master(this.database);
				this.nodes.forEach((node) -> sentinels.sentinel(host(node), port(node)));
				yield sentinels;
			}
			case REDIS_CLUSTER -> new RedisClusterConfiguration(this.nodes);
			default -> new RedisStandaloneConfiguration(host(), port());
		};
	}

	/**
	 * A pool to the database, as Spring Boot makes it.
	 * @param size how many connections it may have
	 */
	HikariDataSource pool(int size) {
		HikariConfig config = poolConfiguration();
		config.setMaximumPoolSize(size);
		return new HikariDataSource(config);
	}

	/**
	 * A pool for a contender that has no timeout of its own.
	 */
	HikariDataSource poolWithTimeout() {
		HikariConfig config = poolConfiguration();
		config.setConnectionTimeout(JDBC_TIMEOUT.toMillis());
		config.addDataSourceProperty("socketTimeout",
				(this.type == StoreType.MARIADB) ? JDBC_TIMEOUT.toMillis() : JDBC_TIMEOUT.toSeconds());
		return new HikariDataSource(config);
	}

	private HikariConfig poolConfiguration() {
		String protocol = (this.type == StoreType.MARIADB) ? "mariadb" : "postgresql";
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl("jdbc:%s://%s/%s".formatted(protocol, this.nodes.get(0), this.database));
		config.setUsername(this.username);
		config.setPassword(currentPassword());
		config.setMaximumPoolSize(POOL_SIZE);
		// a client may be started while its store is down
		config.setInitializationFailTimeout(-1);
		return config;
	}

	/**
	 * Asked whenever a connection is opened.
	 *
	 * @param address the address with the current credentials
	 */
	private record CurrentCredentials(StoreAddress address) implements RedisCredentialsProviderFactory {

		@Override
		public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration configuration) {
			return () -> Mono
				.fromSupplier(() -> RedisCredentials.just(this.address.username(), this.address.currentPassword()));
		}

	}

}
