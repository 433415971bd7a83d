package io.dlock.torture.client;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;

import io.dlock.torture.history.Event;

/**
 * Redisson. A lock without a lease is renewed by its watchdog; one with a lease is not. A
 * holder is not told that its lock is lost, but may ask, with a round trip. The timeouts
 * are small enough that a command, with two repetitions, fits into half a lease: with the
 * defaults no renewal could be repeated within it.
 */
final class RedissonContender implements Contender {

	private static final int WATCHDOG = -1;

	private static final int PERMITS = 2;

	private static final int REPETITIONS = 2;

	private static final int CONNECTIONS = 4;

	/** The defaults of 16 and 32 start one by one, which looks like a leak. */
	private static final int THREADS = 8;

	private final RedissonClient client;

	private final Locks locks;

	/** Of a command with its repetitions. */
	private final Duration patience;

	private final Duration lease;

	RedissonContender(StoreAddress address, Duration lease, Locks locks) {
		this.locks = locks;
		this.lease = lease;
		Duration timeout = lease.dividedBy(10);
		Duration pause = lease.dividedBy(20);
		this.patience = timeout.multipliedBy(1 + REPETITIONS).plus(pause.multipliedBy(REPETITIONS)).plus(timeout);
		Config config = new Config();
		config.setLockWatchdogTimeout(lease.toMillis());
		// a client may be started while its store is down
		config.setLazyInitialization(true);
		config.setThreads(THREADS);
		config.setNettyThreads(THREADS);
		BaseConfig<?> server = configure(config, address);
		server.setTimeout((int) timeout.toMillis());
		server.setRetryAttempts(REPETITIONS);
		server.setRetryDelay(new ConstantDelay(pause));
		server.setReconnectionDelay(new ConstantDelay(pause));
		server.setConnectTimeout((int) lease.toMillis());
		server.setSubscriptionTimeout((int) lease.toMillis());
		server.setPingConnectionInterval((int) lease.toMillis());
		this.client = Redisson.create(config);
	}

	private static BaseConfig<?> configure(Config config, StoreAddress address) {
		String[] nodes = address.nodes().stream().map((node) -> "redis://" + node).toArray(String[]::new);
		return switch (address.type()) {
			case REDIS_SENTINEL ->
				config.useSentinelServers().setMasterName(address.database()).addSentinelAddress(nodes);
			case REDIS_CLUSTER -> config.useClusterServers().addNodeAddress(nodes);
			default -> config.useSingleServer()
				.setAddress(nodes[0])
				.setConnectionMinimumIdleSize(CONNECTIONS)
				.setConnectionPoolSize(4 * CONNECTIONS);
		};
	}

	/**
	 * A fenced lock has a new token each time it is acquired, also by its holder, and
	 * nothing is promised about the one before. A waiting call looks again when it is
	 * told, or when the lease that it saw is over.
	 */
	@Override
	public Abilities abilities() {
		return new Abilities(this.locks == Locks.FENCED, false, this.locks != Locks.FENCED, true,
				this.patience.toNanos(), this.lease.dividedBy(2).toNanos());
	}

	@Override
	public Outcome acquire(LockCall call) {
		long wait = call.waitTime().toMillis();
		long lease = call.renew() ? WATCHDOG : call.lease().toMillis();
		if (this.locks == Locks.FENCED) {
			RFencedLock lock = this.client.getFencedLock("redisson:" + call.key());
			return Peers.acquire(() -> {
				Long token = lock.tryLockAndGetToken(wait, lease, TimeUnit.MILLISECONDS);
				return (token != null) ? new Held(lock, token) : null;
			});
		}
		if (call.places() > 1 && call.places() != LockCall.SHARED) {
			return acquirePermit(call);
		}
		Held held = lock(call);
		return Peers.acquire(() -> held.lock.tryLock(wait, lease, TimeUnit.MILLISECONDS) ? held : null);
	}

	private Held lock(LockCall call) {
		String name = "redisson:" + call.key();
		if (this.locks != Locks.KINDS) {
			return new Held(this.client.getLock(name), 0);
		}
		if (call.fair()) {
			return new Held(this.client.getFairLock(name), 0);
		}
		RReadWriteLock lock = this.client.getReadWriteLock(name);
		return (call.places() == LockCall.SHARED) ? new Held(lock.readLock(), 0)
				: new Held(lock.writeLock(), 0, lock.readLock());
	}

	/**
	 * The number of permits is set once, by the first call.
	 */
	private Outcome acquirePermit(LockCall call) {
		RPermitExpirableSemaphore semaphore = this.client.getPermitExpirableSemaphore("redisson:" + call.key());
		return Peers.acquire(() -> {
			semaphore.trySetPermits(PERMITS);
			String id = semaphore.tryAcquire(call.waitTime().toMillis(), call.lease().toMillis(),
					TimeUnit.MILLISECONDS);
			return (id != null) ? new Permit(semaphore, id, call) : null;
		});
	}

	@Override
	public Outcome acquireAll(List<LockCall> calls) {
		List<RLock> all = calls.stream().map((call) -> this.client.getLock("redisson:" + call.key())).toList();
		RLock together = this.client.getMultiLock(all.toArray(RLock[]::new));
		return Peers.outcome(() -> together.tryLock(calls.get(0).waitTime().toMillis(), WATCHDOG, TimeUnit.MILLISECONDS)
				? new Outcome.AllGranted(all.stream().<Holding>map((lock) -> new Held(lock, 0)).toList()) : null);
	}

	@Override
	public void close() {
		this.client.shutdown(0, 2, TimeUnit.SECONDS);
	}

	/**
	 * An interrupted thread cannot ask, so the interrupt is put off. A holder that gets
	 * no answer does not go on.
	 */
	private static boolean ask(BooleanSupplier question) {
		boolean interrupted = Thread.interrupted();
		try {
			return question.getAsBoolean();
		}
		catch (RuntimeException ex) {
			boolean disturbed = Thread.interrupted() || ex.getCause() instanceof InterruptedException;
			interrupted |= disturbed;
			return disturbed && ask(question);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * A lock.
	 *
	 * @param lock the lock
	 * @param token its token, or 0
	 * @param reader the shared lock that the holder of an exclusive one may take as well
	 */
	private record Held(RLock lock, long token, @Nullable RLock reader) implements Holding {

		Held(RLock lock, long token) {
			this(lock, token, null);
		}

		@Override
		public boolean isValid() {
			return ask(this.lock::isHeldByCurrentThread);
		}

		@Override
		public Outcome downgrade() {
			Held shared = new Held(Objects.requireNonNull(this.reader), 0);
			Outcome outcome = Peers
				.acquire(() -> shared.lock.tryLock(0, WATCHDOG, TimeUnit.MILLISECONDS) ? shared : null);
			Event released = release();
			if (released != Event.RELEASED_LOST) {
				return outcome;
			}
			if (outcome instanceof Outcome.Granted) {
				shared.release();
			}
			return new Outcome.NotGranted(released, "The exclusive lock was lost");
		}

		@Override
		public Event release() {
			return Peers.release(this.lock::unlock);
		}

	}

	/**
	 * A permit is not renewed by the library: its holder does that, at each check.
	 */
	private record Permit(RPermitExpirableSemaphore semaphore, String id, LockCall call) implements Holding {

		@Override
		public boolean isValid() {
			return ask(() -> this.call.renew()
					? this.semaphore.updateLeaseTime(this.id, this.call.lease().toMillis(), TimeUnit.MILLISECONDS)
					: this.semaphore.getLeaseTime(this.id) > 0);
		}

		@Override
		public Event release() {
			return Peers.release(() -> {
				if (!this.semaphore.tryRelease(this.id)) {
					throw new IllegalMonitorStateException("The permit is over");
				}
			});
		}

	}

	/**
	 * The kinds of locks.
	 */
	enum Locks {

		PLAIN,

		FENCED,

		/** Read and write locks, fair ones, permits, and several plain ones at a time. */
		KINDS

	}

}
