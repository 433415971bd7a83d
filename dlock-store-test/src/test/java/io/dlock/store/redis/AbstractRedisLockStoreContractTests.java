package io.dlock.store.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.junit.jupiter.api.AfterEach;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.LockStore;
import io.dlock.store.WaitingQueue;
import io.dlock.store.test.LockStoreContract;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

/**
 * The contract on Redis.
 */
abstract class AbstractRedisLockStoreContractTests extends LockStoreContract {

	private final RedisServer server = RedisServer.shared();

	private final LettuceConnectionFactory administrator = LettuceFactories.create(this.server.host(),
			this.server.port());

	private final List<RedisConnectionFactory> applications = new ArrayList<>();

	/**
	 * Create the factory that the application has.
	 */
	abstract RedisConnectionFactory createConnectionFactory(RedisStandaloneConfiguration server);

	abstract void destroy(RedisConnectionFactory factory);

	@Override
	protected LockStore createStore() {
		RedisConnectionFactory application = createConnectionFactory(
				new RedisStandaloneConfiguration(this.server.host(), this.server.port()));
		this.applications.add(application);
		return new RedisLockStore(application, RedisLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND));
	}

	@Override
	protected LockStore createStoreOfAnotherProcess() {
		return createStore();
	}

	@Override
	protected void loseEverything() {
		onServer((connection) -> connection.serverCommands().flushAll());
	}

	@Override
	protected void setLastToken(long token) {
		onServer((connection) -> connection.stringCommands()
			.set(RedisKeys.of("dlock", key()).fence(), Long.toString(token).getBytes()));
	}

	@Override
	protected boolean replaceQueue(WaitingQueue queue) {
		onServer((connection) -> connection.hashCommands()
			.hSet(RedisKeys.of("dlock", key()).lock(), "waiting".getBytes(), queue.text().getBytes()));
		return true;
	}

	final void onServer(Consumer<RedisConnection> command) {
		try (RedisConnection connection = this.administrator.getConnection()) {
			command.accept(connection);
		}
	}

	/**
	 * Locks of a bucket share a fence, and that of a test may be in the future.
	 */
	@AfterEach
	void deleteFenceAndDisconnect() {
		onServer((connection) -> connection.keyCommands().del(RedisKeys.of("dlock", key()).fence()));
		this.administrator.destroy();
		this.applications.forEach(this::destroy);
	}

}
