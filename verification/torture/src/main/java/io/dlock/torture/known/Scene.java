package io.dlock.torture.known;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

/**
 * The servers, and what is connected to them. Each registry, connection factory and pool
 * is one of its own, as in a process of its own.
 */
final class Scene implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private final List<AutoCloseable> opened = new ArrayList<>();

	private final Executor threads = (task) -> {
		Thread thread = new Thread(task);
		thread.setDaemon(true);
		thread.start();
	};

	<T extends AutoCloseable> T open(T resource) {
		this.opened.add(resource);
		return resource;
	}

	/**
	 * A way to Redis that can be cut.
	 */
	TcpProxy linkToRedis() {
		return open(TcpProxy.to("127.0.0.1", RedisServer.shared().port()));
	}

	LettuceConnectionFactory redis() {
		return redis(RedisServer.shared().port());
	}

	LettuceConnectionFactory redis(int port) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", port),
				LettuceClientConfiguration.builder().commandTimeout(TIMEOUT).build());
		factory.afterPropertiesSet();
		factory.start();
		this.opened.add(factory::destroy);
		return factory;
	}

	/**
	 * A pool to PostgreSQL, with the tables of us and of the peers.
	 */
	HikariDataSource postgres() {
		PostgresServer server = PostgresServer.shared();
		HikariDataSource pool = open(Connections.pool(server.jdbcUrl(), server.username(), server.password()));
		new ResourceDatabasePopulator(new ClassPathResource("io/dlock/torture/peers-postgres.sql"),
				new ClassPathResource("io/dlock/store/jdbc/schema-postgresql.sql"))
			.execute(pool);
		return pool;
	}

	LockRegistry ourRedis() {
		return ours(new RedisLockStore(redis(), RedisLockStoreSettings.defaults()));
	}

	LockRegistry ourPostgres() {
		return ours(new JdbcLockStore(postgres(), JdbcLockStoreSettings.defaults()));
	}

	LockRegistry ours(LockStore store) {
		this.opened.add(store);
		return open(new LeaseLockRegistry(store, LockSettings.defaults()));
	}

	static Optional<LockHandle> tryAcquire(LockRegistry registry, String key, Duration wait, Duration lease) {
		return registry
			.tryAcquire(LockRequest.builder(key).waitTime(wait).lease(lease).renew(false).reentrant(false).build());
	}

	static boolean isGranted(LockRegistry registry, String key) {
		return tryAcquire(registry, key, Duration.ZERO, Duration.ofSeconds(10)).isPresent();
	}

	/**
	 * Without it there is nothing to try.
	 */
	static void require(boolean granted) {
		if (!granted) {
			throw new IllegalStateException("A free lock was refused");
		}
	}

	static String release(LockHandle handle) {
		try {
			handle.release();
			return "was not told of its loss";
		}
		catch (LockLostException ex) {
			return "was told of its loss";
		}
	}

	/**
	 * Do something in a thread of its own.
	 */
	<T> CompletableFuture<T> start(Action<T> action) {
		return CompletableFuture.supplyAsync(() -> {
			try {
				return action.run();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}, this.threads);
	}

	static void pause(Duration time) {
		long begin = System.nanoTime();
		long left = time.toNanos();
		while (left > 0) {
			LockSupport.parkNanos(left);
			left = time.toNanos() - (System.nanoTime() - begin);
		}
	}

	static long millisSince(long nanos) {
		return (System.nanoTime() - nanos) / 1_000_000;
	}

	@Override
	public void close() {
		for (int i = this.opened.size() - 1; i >= 0; i--) {
			try {
				this.opened.get(i).close();
			}
			catch (Exception ex) {
				System.err.println("Could not close everything: " + ex);
			}
		}
	}

	/**
	 * Something to do.
	 *
	 * @param <T> its result
	 */
	@FunctionalInterface
	interface Action<T> {

		T run() throws Exception;

	}

}
