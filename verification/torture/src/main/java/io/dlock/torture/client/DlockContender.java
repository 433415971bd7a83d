package io.dlock.torture.client;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockInterruptedException;
import io.dlock.LockLostException;
import io.dlock.LockMode;
import io.dlock.LockQuarantinedException;
import io.dlock.LockRegistry;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.store.quorum.QuorumLockStore;
import io.dlock.store.quorum.QuorumSettings;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.torture.Arguments;
import io.dlock.torture.history.Event;

/**
 * Us, with the defaults that the lease implies.
 */
public final class DlockContender implements Contender {

	/** HikariCP waits no shorter for a connection. */
	private static final Duration SHORTEST_POOL_TIMEOUT = Duration.ofMillis(250);

	/** Few, so that they are soon used up. */
	private static final int APPLICATION_POOL_SIZE = 4;

	private final LockSettings settings;

	private final Duration timeout;

	private final LockStore store;

	private final LeaseLockRegistry registry;

	private final Application application;

	private final Runnable connections;

	private DlockContender(LockSettings settings, Duration timeout, LockStore store, Application application,
			Runnable connections) {
		this.settings = settings;
		this.timeout = timeout;
		this.store = store;
		this.registry = new LeaseLockRegistry(store, settings);
		this.application = application;
		this.connections = connections;
	}

	/**
	 * Connect to a store.
	 * @param store its address, as the store names it to clients
	 * @param lease the lease of most locks
	 * @return the contender
	 */
	public static DlockContender connect(Arguments store, Duration lease) {
		return connect(StoreAddress.of(store), lease, "client");
	}

	static DlockContender connect(StoreAddress address, Duration lease, String instance) {
		LockSettings settings = LockSettings.builder().lease(lease).instance(instance).build();
		return address.type().isRedis() ? connectRedis(address, settings) : connectDatabase(address, settings);
	}

	/**
	 * The longest lease that a client asks for is twice the usual one.
	 */
	private static DlockContender connectRedis(StoreAddress address, LockSettings settings) {
		Duration timeout = settings.commandTimeout();
		List<StoreAddress> nodes = address.each();
		RedisLockStoreSettings node = RedisLockStoreSettings.defaults()
			.withCommandTimeout(timeout)
			.withQuarantine(address.quarantine());
		List<LettuceConnectionFactory> factories = nodes.stream().map(StoreAddress::connectionFactory).toList();
		List<RedisLockStore> stores = RedisLockStore.nodes(factories, node);
		LockStore store = (stores.size() == 1) ? stores.get(0) : new QuorumLockStore(stores,
				QuorumSettings.defaults().withCommandTimeout(timeout).withWrongClocks(address.wrongClocks()));
		return new DlockContender(settings, timeout, store,
				new SharedConnectionApplication(factories.get(0), nodes.get(0)),
				() -> factories.forEach(LettuceConnectionFactory::destroy));
	}

	private static DlockContender connectDatabase(StoreAddress address, LockSettings settings) {
		Duration timeout = settings.commandTimeout();
		HikariDataSource pool = address.pool(APPLICATION_POOL_SIZE);
		Duration poolTimeout = (timeout.compareTo(SHORTEST_POOL_TIMEOUT) > 0) ? timeout : SHORTEST_POOL_TIMEOUT;
		return new DlockContender(settings, poolTimeout, new JdbcLockStore(pool,
				JdbcLockStoreSettings.defaults().withCommandTimeout(timeout).withQuarantine(address.quarantine())),
				new PooledApplication(pool), pool::close);
	}

	public LockRegistry registry() {
		return this.registry;
	}

	@Override
	public Abilities abilities() {
		return new Abilities(true, true, true, true, this.timeout.toNanos(), this.settings.maxPollInterval().toNanos());
	}

	@Override
	public Outcome acquire(LockCall call) {
		LockRequest request = request(call);
		try {
			if (call.async()) {
				return acquireAsync(call, request);
			}
			Optional<LockHandle> handle = isPermit(call) ? this.registry.tryAcquirePermit(request, call.places())
					: this.registry.tryAcquire(request);
			return handle.isPresent() ? new Outcome.Granted(new Held(handle.get()))
					: new Outcome.NotGranted(Event.REFUSED, "busy");
		}
		catch (RuntimeException ex) {
			return failed(ex);
		}
	}

	@Override
	public CompletableFuture<Outcome> acquireAsync(LockCall call) {
		return this.registry.acquireAsync(request(call))
			.handle((handle, failure) -> (failure == null) ? new Outcome.Granted(new Held(handle)) : failed(failure));
	}

	@Override
	public Outcome acquireAll(List<LockCall> calls) {
		LockRequest template = request(calls.get(0));
		List<String> keys = calls.stream().map(LockCall::key).toList();
		try {
			LockSet set = calls.get(0).async() ? this.registry.acquireAllAsync(template, keys).join()
					: this.registry.acquireAll(template, keys);
			return new Outcome.AllGranted(keys.stream().<Holding>map((key) -> new Held(set.handle(key))).toList(),
					() -> release(set, keys));
		}
		catch (CompletionException ex) {
			return failed((ex.getCause() != null) ? ex.getCause() : ex);
		}
		catch (RuntimeException ex) {
			return failed(ex);
		}
	}

	/**
	 * The exception has those of the other locks that were lost.
	 */
	private static List<Event> release(LockSet set, List<String> keys) {
		try {
			set.release();
			return keys.stream().map((key) -> Event.RELEASED).toList();
		}
		catch (LockLostException ex) {
			Set<String> lost = Stream.concat(Stream.of(ex), Arrays.stream(ex.getSuppressed()))
				.filter(LockLostException.class::isInstance)
				.map((each) -> ((LockLostException) each).key())
				.collect(Collectors.toSet());
			return keys.stream().map((key) -> lost.contains(key) ? Event.RELEASED_LOST : Event.RELEASED).toList();
		}
		catch (RuntimeException ex) {
			return keys.stream().map((key) -> Event.RELEASE_FAILED).toList();
		}
	}

	private static LockRequest request(LockCall call) {
		return LockRequest.builder(call.key())
			.lease(call.lease())
			.waitTime(call.waitTime())
			.renew(call.renew())
			.fair(call.fair())
			.mode((call.places() == LockCall.SHARED) ? LockMode.SHARED : LockMode.EXCLUSIVE)
			.build();
	}

	private static boolean isPermit(LockCall call) {
		return call.places() > 1 && call.places() != LockCall.SHARED;
	}

	/**
	 * An interrupted caller gives up the future.
	 */
	private Outcome acquireAsync(LockCall call, LockRequest request) {
		CompletableFuture<LockHandle> future = isPermit(call) ? this.registry.acquirePermitAsync(request, call.places())
				: this.registry.acquireAsync(request);
		try {
			return new Outcome.Granted(new Held(future.get()));
		}
		catch (InterruptedException ex) {
			if (!future.cancel(false) && !future.isCompletedExceptionally()) {
				return new Outcome.Granted(new Held(future.join()));
			}
			Thread.currentThread().interrupt();
			return Outcome.NotGranted.of(Event.INTERRUPTED, ex);
		}
		catch (ExecutionException ex) {
			return failed((ex.getCause() != null) ? ex.getCause() : ex);
		}
	}

	private static Outcome failed(Throwable failure) {
		if (failure instanceof LockBusyException) {
			return Outcome.NotGranted.of(Event.REFUSED, failure);
		}
		if (failure instanceof LockQuarantinedException) {
			return Outcome.NotGranted.of(Event.QUARANTINED, failure);
		}
		if (failure instanceof LockStoreException || failure instanceof LockLostException) {
			return Outcome.NotGranted.of(Event.UNKNOWN, failure);
		}
		if (failure instanceof LockInterruptedException) {
			return Outcome.NotGranted.of(Event.INTERRUPTED, failure);
		}
		if (failure instanceof LockRegistryClosedException) {
			return Outcome.NotGranted.of(Event.CLOSED, failure);
		}
		return Outcome.NotGranted.of(Event.FAILED, failure);
	}

	@Override
	public Optional<Application> application() {
		return Optional.of(this.application);
	}

	@Override
	public void close() {
		this.registry.close();
		this.store.close();
		this.connections.run();
	}

	private record Held(LockHandle handle) implements Holding {

		@Override
		public long token() {
			return this.handle.token();
		}

		@Override
		public boolean isValid() {
			return this.handle.isValid();
		}

		@Override
		public boolean isContradicted(boolean valid) {
			try {
				this.handle.assertHeld();
				return !valid;
			}
			catch (LockLostException ex) {
				return this.handle.isValid();
			}
			catch (RuntimeException ex) {
				return true;
			}
		}

		@Override
		public long remainingNanos() {
			return this.handle.remaining().toNanos();
		}

		@Override
		public void onLost(Runnable listener) {
			this.handle.onLost((lost) -> listener.run());
		}

		@Override
		public Outcome downgrade() {
			try {
				return new Outcome.Granted(new Held(this.handle.downgrade()));
			}
			catch (LockLostException ex) {
				return Outcome.NotGranted.of(Event.RELEASED_LOST, ex);
			}
			catch (RuntimeException ex) {
				return failed(ex);
			}
		}

		@Override
		public Event release() {
			try {
				this.handle.release();
				return Event.RELEASED;
			}
			catch (LockLostException ex) {
				return Event.RELEASED_LOST;
			}
			catch (RuntimeException ex) {
				return Event.RELEASE_FAILED;
			}
		}

	}

}
