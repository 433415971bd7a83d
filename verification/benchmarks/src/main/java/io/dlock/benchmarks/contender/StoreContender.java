package io.dlock.benchmarks.contender;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockSettings;
import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.store.Quarantine;
import io.dlock.store.quorum.QuorumLockStore;
import io.dlock.store.quorum.QuorumSettings;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;

/**
 * The stores of dlock without the engine: each try is a call, and nothing is renewed.
 */
final class StoreContender implements Contender {

	private final Connected<LockStore> store;

	private final Duration lease;

	private StoreContender(Connected<LockStore> store, Duration lease) {
		this.store = store;
		this.lease = lease;
	}

	static StoreContender connect(ServerAddress address, Duration lease) {
		return new StoreContender(store(address, lease), lease);
	}

	static StoreContender inMemory(Duration lease) {
		return new StoreContender(memory(), lease);
	}

	static Connected<LockStore> memory() {
		return new Connected<>(new MemoryLockStore(), () -> {
		});
	}

	static Connected<LockStore> store(ServerAddress address, Duration lease) {
		Duration timeout = LockSettings.commandTimeoutFor(lease);
		return switch (address.backend()) {
			case REDIS -> Connected.toRedis(address, (factory) -> new RedisLockStore(factory,
					RedisLockStoreSettings.defaults().withCommandTimeout(timeout)));
			case POSTGRES -> Connected.toPostgres(address,
					(pool) -> new JdbcLockStore(pool,
							JdbcLockStoreSettings.defaults()
								.withCommandTimeout(timeout)
								.withPoolSize(ServerAddress.POOL_SIZE)
								.withRetention(Duration.ofMinutes(1))));
		};
	}

	/**
	 * The majority of several servers.
	 */
	static Connected<LockStore> quorum(List<ServerAddress> nodes, Duration lease) {
		Duration timeout = LockSettings.commandTimeoutFor(lease);
		List<LettuceConnectionFactory> factories = nodes.stream().map(ServerAddress::connectionFactory).toList();
		RedisLockStoreSettings settings = RedisLockStoreSettings.defaults()
			.withCommandTimeout(timeout)
			.withQuarantine(new Quarantine(lease, Duration.ZERO));
		QuorumLockStore store = new QuorumLockStore(RedisLockStore.nodes(factories, settings),
				QuorumSettings.defaults().withCommandTimeout(timeout));
		return new Connected<>(store, () -> factories.forEach(LettuceConnectionFactory::destroy));
	}

	@Override
	public ContenderLock open(String key) {
		return new Held(key);
	}

	@Override
	public void close() {
		this.store.client().close();
		this.store.close();
	}

	/**
	 * The lock of one thread.
	 */
	private final class Held implements ContenderLock {

		private final String key;

		private String owner = "";

		Held(String key) {
			this.key = key;
		}

		@Override
		public void acquire() {
			throw new UnsupportedOperationException("A store does not wait");
		}

		@Override
		public boolean tryAcquire() {
			this.owner = UUID.randomUUID().toString();
			return StoreContender.this.store.client()
				.acquire(new AcquireCommand(this.key, this.owner, StoreContender.this.lease, "benchmark",
						"")) instanceof AcquireResult.Granted;
		}

		@Override
		public void release() {
			if (!StoreContender.this.store.client().release(this.key, this.owner)) {
				throw new IllegalStateException("The lease of '" + this.key + "' was over");
			}
		}

	}

}
