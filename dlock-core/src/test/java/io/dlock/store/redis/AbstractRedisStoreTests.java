package io.dlock.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;

import io.dlock.store.AbstractLockStoreTests;
import io.dlock.store.LockStore;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

/**
 * A store of Redis behind a proxy, for every client.
 */
abstract class AbstractRedisStoreTests extends AbstractLockStoreTests {

	/**
	 * The timeout of stores in tests in which it runs out.
	 */
	static final Duration TIMEOUT = Duration.ofSeconds(1);

	static final Duration LEASE = Duration.ofSeconds(60);

	private final RedisServer server = RedisServer.shared();

	private TcpProxy proxy;

	private RedisConnectionFactory application;

	/**
	 * Create the factory the application would have, with its default timeout.
	 */
	abstract RedisConnectionFactory createConnectionFactory(String host, int port);

	abstract RedisConnectionFactory createClusterConnectionFactory(String host, int port);

	abstract RedisConnectionFactory createSentinelConnectionFactory(RedisSentinelConfiguration configuration);

	/**
	 * The same as the user that the store is to be, on the shared server behind a proxy.
	 */
	RedisConnectionFactory createApplicationFactory(String host, int port) {
		return createConnectionFactory(host, port);
	}

	/**
	 * The user that the store is.
	 */
	String user() {
		return "default";
	}

	abstract void destroy(RedisConnectionFactory factory);

	TcpProxy proxy() {
		return this.proxy;
	}

	@Override
	protected LockStore createStore() {
		this.proxy = TcpProxy.to(this.server.host(), this.server.port());
		this.application = createApplicationFactory("127.0.0.1", this.proxy.port());
		return new RedisLockStore(this.application, patient());
	}

	static RedisLockStoreSettings patient() {
		return RedisLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND);
	}

	/**
	 * A store whose timeout runs out, since Redis falls silent.
	 */
	final RedisLockStore atSilentServer() {
		RedisLockStore store = impatient();
		this.proxy.blackHole(true);
		return store;
	}

	final RedisLockStore impatient() {
		return Patience.connected(
				new RedisLockStore(this.application, RedisLockStoreSettings.defaults().withCommandTimeout(TIMEOUT)));
	}

	@AfterEach
	void stopProxy() {
		this.proxy.close();
		destroy(this.application);
	}

	final void onServer(Consumer<RedisConnection> command) {
		RedisConnectionFactory direct = createConnectionFactory(this.server.host(), this.server.port());
		try (RedisConnection connection = direct.getConnection()) {
			command.accept(connection);
		}
		finally {
			destroy(direct);
		}
	}

	final void takeAllSlots(RedisServer node) {
		RedisConnectionFactory direct = createConnectionFactory(node.host(), node.port());
		try (RedisConnection connection = direct.getConnection()) {
			List<byte[]> addSlots = new ArrayList<>(List.of("ADDSLOTS".getBytes()));
			IntStream.range(0, 16384).forEach((slot) -> addSlots.add(Integer.toString(slot).getBytes()));
			connection.execute("CLUSTER", addSlots.toArray(byte[][]::new));
		}
		finally {
			destroy(direct);
		}
	}

}
