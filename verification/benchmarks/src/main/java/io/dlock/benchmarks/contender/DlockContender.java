package io.dlock.benchmarks.contender;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.ReleaseMode;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;

/**
 * Us, with the defaults; only the pool is as large as everybody's.
 */
public final class DlockContender implements Contender {

	private final Connected<LockStore> store;

	private final LeaseLockRegistry registry;

	private DlockContender(Connected<LockStore> store, Duration lease, ReleaseMode releaseMode) {
		this.store = store;
		this.registry = new LeaseLockRegistry(store.client(),
				LockSettings.defaults()
					.withLease(lease)
					.withReleaseMode(releaseMode)
					.withShutdownTimeout(Duration.ZERO));
	}

	/**
	 * Connect to a server.
	 * @param address the server
	 * @param lease the lease of every lock
	 * @return the contender
	 */
	public static DlockContender connect(ServerAddress address, Duration lease) {
		return connect(address, lease, ReleaseMode.SYNC);
	}

	/**
	 * Connect to a server, with releases that do not wait for it.
	 * @param address the server
	 * @param lease the lease of every lock
	 * @return the contender
	 */
	public static DlockContender connectAsync(ServerAddress address, Duration lease) {
		return connect(address, lease, ReleaseMode.ASYNC);
	}

	private static DlockContender connect(ServerAddress address, Duration lease, ReleaseMode releaseMode) {
		Duration timeout = LockSettings.commandTimeoutFor(lease);
		Connected<LockStore> store = switch (address.backend()) {
			case REDIS -> Connected.toRedis(address, (factory) -> new RedisLockStore(factory,
					RedisLockStoreSettings.defaults().withCommandTimeout(timeout)));
			case POSTGRES -> Connected.toPostgres(address,
					(pool) -> new JdbcLockStore(pool,
							JdbcLockStoreSettings.defaults()
								.withCommandTimeout(timeout)
								.withPoolSize(ServerAddress.POOL_SIZE)
								.withRetention(Duration.ofMinutes(1))));
		};
		return new DlockContender(store, lease, releaseMode);
	}

	@Override
	public ContenderLock open(String key) {
		return new Held(this.registry, LockRequest.builder(key).waitTime(LockRequest.FOREVER).build());
	}

	/**
	 * Remove what old locks left in the store.
	 */
	public void sweep() {
		while (this.store.client().sweep()) {
			Thread.onSpinWait();
		}
	}

	@Override
	public void close() {
		this.registry.close();
		this.store.client().close();
		this.store.close();
	}

	/**
	 * The lock of one thread.
	 */
	private static final class Held implements ContenderLock {

		private final LeaseLockRegistry registry;

		private final LockRequest request;

		private @Nullable LockHandle handle;

		Held(LeaseLockRegistry registry, LockRequest request) {
			this.registry = registry;
			this.request = request;
		}

		@Override
		public void acquire() {
			this.handle = this.registry.acquire(this.request);
		}

		@Override
		public void release() {
			LockHandle held = this.handle;
			if (held != null) {
				this.handle = null;
				held.release();
			}
		}

	}

}
