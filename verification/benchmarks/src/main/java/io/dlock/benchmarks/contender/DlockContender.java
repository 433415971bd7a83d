package io.dlock.benchmarks.contender;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.dlock.LockHandle;
import io.dlock.LockMode;
import io.dlock.LockRequest;
import io.dlock.LockRequestBuilder;
import io.dlock.LockSettings;
import io.dlock.LockSettingsBuilder;
import io.dlock.ReleaseMode;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;

/**
 * dlock with its defaults, except for the pool, which is as large as that of the others.
 */
public final class DlockContender implements Contender {

	private final Connected<LockStore> store;

	private final LeaseLockRegistry registry;

	private DlockContender(Connected<LockStore> store, LockSettingsBuilder settings) {
		this.store = store;
		this.registry = new LeaseLockRegistry(store.client(), settings.shutdownTimeout(Duration.ZERO).build());
	}

	/**
	 * Connect to a server.
	 * @param address the server
	 * @param lease the lease of every lock
	 * @return the contender
	 */
	public static DlockContender connect(ServerAddress address, Duration lease) {
		return connect(address, lease, LockSettings.builder());
	}

	/**
	 * Connect to a server, with releases that do not wait for it.
	 * @param address the server
	 * @param lease the lease of every lock
	 * @return the contender
	 */
	public static DlockContender connectAsync(ServerAddress address, Duration lease) {
		return connect(address, lease, LockSettings.builder().releaseMode(ReleaseMode.ASYNC));
	}

	/**
	 * Connect to several servers, the majority of which has to agree.
	 * @param nodes the servers
	 * @param lease the lease of every lock
	 * @return the contender
	 */
	public static DlockContender connectQuorum(List<ServerAddress> nodes, Duration lease) {
		return new DlockContender(StoreContender.quorum(nodes, lease), LockSettings.builder().lease(lease));
	}

	static DlockContender connectFair(ServerAddress address, Duration lease) {
		return connect(address, lease, LockSettings.builder().fair(true));
	}

	static DlockContender inMemory(Duration lease) {
		return new DlockContender(StoreContender.memory(), LockSettings.builder().lease(lease));
	}

	private static DlockContender connect(ServerAddress address, Duration lease, LockSettingsBuilder settings) {
		return new DlockContender(StoreContender.store(address, lease), settings.lease(lease));
	}

	@Override
	public ContenderLock open(String key) {
		LockRequestBuilder request = LockRequest.builder(key);
		return new Held(this.registry, request.waitTime(LockRequest.FOREVER).build(),
				request.waitTime(Duration.ZERO).build());
	}

	@Override
	public ContenderLock open(String key, LockKind kind) {
		LockRequest request = LockRequest.builder(key)
			.waitTime(LockRequest.FOREVER)
			.mode((kind == LockKind.READ) ? LockMode.SHARED : LockMode.EXCLUSIVE)
			.build();
		return switch (kind) {
			case EXCLUSIVE -> open(key);
			case READ, WRITE -> new GrantedLock(() -> this.registry.acquire(request)::release);
			case TWO_KEYS ->
				new GrantedLock(() -> this.registry.acquireAll(request, List.of(key + "-a", key + "-b"))::release);
			case PERMIT -> new GrantedLock(() -> this.registry.acquirePermit(request, kind.places())::release);
		};
	}

	/**
	 * Acquire a lock without blocking the calling thread.
	 * @param key the key
	 * @param waitTime the time after which the request ends
	 * @return the lock
	 */
	public CompletableFuture<LockHandle> acquireAsync(String key, Duration waitTime) {
		return this.registry.acquireAsync(LockRequest.builder(key).waitTime(waitTime).build());
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

		private final LockRequest trial;

		private @Nullable LockHandle handle;

		Held(LeaseLockRegistry registry, LockRequest request, LockRequest trial) {
			this.registry = registry;
			this.request = request;
			this.trial = trial;
		}

		@Override
		public void acquire() {
			this.handle = this.registry.acquire(this.request);
		}

		@Override
		public boolean tryAcquire() {
			this.handle = this.registry.tryAcquire(this.trial).orElse(null);
			return this.handle != null;
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
