package io.dlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

import io.dlock.LockBusyException;
import io.dlock.LockConsole;
import io.dlock.LockContext;
import io.dlock.LockEvent;
import io.dlock.LockHandle;
import io.dlock.LockInfo;
import io.dlock.LockListener;
import io.dlock.LockLostException;
import io.dlock.LockRegistry;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.LossType;
import io.dlock.engine.MachineClock.Moment;
import io.dlock.store.LockStore;
import io.dlock.store.StoreException;

/**
 * The lock registry: leases in a {@link LockStore}.
 * <p>
 * The registry ends with {@link #close()}: it accepts no more requests, wakes the waiting
 * ones with {@link LockRegistryClosedException}, gives running holders the shutdown
 * timeout to finish, and then declares their locks lost and releases them. The store is
 * not closed by the registry.
 * <p>
 * As a Spring bean it is closed when the context destroys it. When the lifecycle beans of
 * the context stop, it gives running holders the shutdown timeout to finish while all
 * beans are there, and grants locks all the same: an executor whose queued tasks are
 * awaited works them off when its bean is destroyed. The starter makes sure that
 * executors are destroyed before the registry. Without the starter, let their beans
 * depend on it.
 *
 * @since 0.1
 */
public final class LeaseLockRegistry implements LockRegistry, SmartLifecycle, AutoCloseable {

	/**
	 * When the registry waits for running holders: after the web server, listener
	 * containers, task executors and schedulers have stopped (phase
	 * {@code Integer.MAX_VALUE / 2} and higher), before the Redis client does (phase 0).
	 */
	public static final int PHASE = Integer.MAX_VALUE / 4;

	private static final Log logger = LogFactory.getLog(LeaseLockRegistry.class);

	private static final Duration SWEEP_PERIOD = Duration.ofMinutes(30);

	private static final Duration SWEEP_PAUSE = Duration.ofSeconds(1);

	private static final Loss SHUTDOWN = new Loss(LossType.SHUTDOWN, "the application shut down while it was held");

	/** Listeners may be destroyed next. */
	private static final Duration EVENTS_AT_STOP = Duration.ofSeconds(1);

	private final LockStore store;

	private final LockSettings settings;

	private final MachineClock clock;

	private final EngineThreads threads;

	private final LockEvents events;

	private final LocalQueues queues;

	private final LeaseKeeper keeper;

	private final Revoker revoker;

	private final LeaseReleaser releaser;

	private final StoreTurns turns;

	private final CountsByName counts;

	private final LockConsole console;

	private final long answerNanos;

	private volatile long answered;

	private volatile boolean open = true;

	private volatile boolean running = true;

	/** What is left of the shutdown timeout. */
	private volatile Duration grace;

	/**
	 * Create a registry, which is open at once.
	 * @param store where the leases are
	 * @param settings defaults and limits
	 */
	public LeaseLockRegistry(LockStore store, LockSettings settings) {
		this(store, settings, MachineClock.SYSTEM);
	}

	LeaseLockRegistry(LockStore store, LockSettings settings, MachineClock clock) {
		this(store, settings, clock, new EngineThreads());
	}

	LeaseLockRegistry(LockStore store, LockSettings settings, MachineClock clock, EngineThreads threads) {
		this.store = store;
		this.settings = settings;
		this.grace = settings.shutdownTimeout();
		this.clock = clock;
		this.threads = threads;
		this.events = new LockEvents(this.threads);
		this.keeper = new LeaseKeeper(store, clock, this.threads, this.events);
		this.revoker = new Revoker(store, clock, this.threads, settings.commandTimeout());
		this.releaser = new LeaseReleaser(store, this.keeper, this.revoker, this.threads, settings.releaseMode());
		this.queues = new LocalQueues(settings.handOffMaxDuration().toNanos(), this.releaser);
		this.turns = new StoreTurns(store, this.threads, this.queues, settings.maxPollInterval());
		this.counts = new CountsByName(this.keeper, this.queues);
		this.console = new RegistryConsole(this);
		this.answerNanos = settings.commandTimeout().toNanos() * 2;
		this.answered = clock.nanoTime() - this.answerNanos;
		this.threads.workLater(this::sweep, SWEEP_PERIOD.toNanos());
	}

	/**
	 * A sweep is bounded; if it left something, the next follows soon.
	 */
	private void sweep() {
		boolean more = false;
		try {
			more = this.store.sweep();
		}
		catch (StoreException ex) {
			logger.debug("The sweep of the lock store failed and will be repeated", ex);
		}
		finally {
			this.threads.workLater(this::sweep, (more ? SWEEP_PAUSE : SWEEP_PERIOD).toNanos());
		}
	}

	LockStore store() {
		return this.store;
	}

	/**
	 * The defaults and limits of this registry.
	 * @return the settings
	 */
	public LockSettings settings() {
		return this.settings;
	}

	EngineThreads threads() {
		return this.threads;
	}

	LocalQueues queues() {
		return this.queues;
	}

	LeaseKeeper keeper() {
		return this.keeper;
	}

	Revoker revoker() {
		return this.revoker;
	}

	StoreTurns turns() {
		return this.turns;
	}

	LockEvents events() {
		return this.events;
	}

	/**
	 * Note that the store has answered a request. Not every answer needs to be noted,
	 * because all threads write here.
	 * @param sent the time at which the request was sent
	 */
	void storeAnswered(Moment sent) {
		if (sent.nanos() - this.answered > this.answerNanos / 8) {
			this.answered = sent.nanos();
		}
	}

	/**
	 * Whether the store has answered a request of this process within the last two
	 * command timeouts.
	 * @return whether it works
	 */
	boolean isStoreAnswering() {
		return this.clock.nanoTime() - this.answered < this.answerNanos;
	}

	@Override
	public LockHandle acquire(LockRequest request) {
		return acquire(request, this.settings.waitTimeOf(request), true);
	}

	@Override
	public Optional<LockHandle> tryAcquire(LockRequest request) {
		try {
			return Optional.of(acquire(request));
		}
		catch (LockBusyException ex) {
			return Optional.empty();
		}
	}

	/**
	 * Acquire a lock on the calling thread.
	 * @param request the request
	 * @param waitTime how long to wait
	 * @param interruptible whether an interrupt ends the wait, or is kept for later
	 * @return the handle, bound to the calling thread
	 */
	HeldLock acquire(LockRequest request, Duration waitTime, boolean interruptible) {
		validate(request);
		HeldLock handle = nested(request);
		if (handle == null) {
			handle = new BlockingAcquisition(request, waitTime, interruptible, this).run();
		}
		return handle.bindToThread();
	}

	/**
	 * Tell that a lock was acquired. One that was granted while the registry stopped
	 * would be nobody's to release.
	 * @param hold the lock, of a lease that is kept already
	 * @param wait the wait for it
	 * @return the handle
	 */
	HeldLock deliver(Hold hold, Deadline wait) {
		HeldLock handle = new HeldLock(this, hold);
		try {
			this.events.acquired(hold, wait);
			failIfClosed(hold.key());
			return handle;
		}
		catch (Throwable ex) {
			try {
				handle.releaseUnused();
			}
			catch (LockLostException lost) {
				ex.addSuppressed(lost);
			}
			throw ex;
		}
	}

	void failIfClosed(String key) {
		if (!this.open) {
			throw new LockRegistryClosedException(key);
		}
	}

	/**
	 * A thread that holds the key gets another handle on its lease. One that held it and
	 * lost it is told so: it believes to hold it.
	 */
	private @Nullable HeldLock nested(LockRequest request) {
		if (!request.reentrant()) {
			return null;
		}
		HeldLock outer = (HeldLock) LockContext.find(request.key(),
				(handle) -> handle instanceof HeldLock held && held.belongsTo(this, request.key()));
		return (outer != null) ? nested(outer) : null;
	}

	private @Nullable HeldLock nested(HeldLock outer) {
		if (outer.hold().retain()) {
			return new HeldLock(this, outer.hold());
		}
		if (outer.hold().isLost()) {
			throw outer.hold().lostException();
		}
		return null;
	}

	@Override
	public CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
		validate(request);
		return new AsyncAcquisition(request, this).start();
	}

	@Override
	public CompletableFuture<LockHandle> acquireAsync(LockRequest request, LockHandle outer) {
		validate(request);
		if (request.reentrant() && outer instanceof HeldLock held && held.belongsTo(this, request.key())) {
			try {
				HeldLock handle = nested(held);
				if (handle != null) {
					return CompletableFuture.completedFuture(handle);
				}
			}
			catch (LockLostException ex) {
				return CompletableFuture.failedFuture(ex);
			}
		}
		return acquireAsync(request);
	}

	/**
	 * Release a lock whose last handle is closed.
	 * @param hold the lock
	 */
	void release(Hold hold) {
		boolean held = hold.beginRelease();
		LockEvent event = held ? this.events.release(hold) : null;
		try {
			this.releaser.release(hold, held && this.open);
		}
		finally {
			this.events.tell(event);
		}
		if (!held) {
			throw hold.lostException();
		}
	}

	/**
	 * Release a lock whose last handle is closed, without waiting for the store.
	 * @param hold the lock
	 * @return completes when it is released, with the loss if it was lost
	 */
	CompletableFuture<@Nullable Void> releaseAsync(Hold hold) {
		boolean held = hold.beginRelease();
		LockEvent event = held ? this.events.release(hold) : null;
		CompletableFuture<@Nullable Void> released = this.releaser.releaseAsync(hold, held && this.open);
		if (event != null) {
			return released.thenRun(() -> this.events.tell(event));
		}
		if (held) {
			return released;
		}
		return released.thenCompose((done) -> CompletableFuture.failedFuture(hold.lostException()));
	}

	@Override
	public Lock lock(LockRequest request) {
		validate(request);
		return new LockView(this, request);
	}

	@Override
	public Optional<LockInfo> find(String key) {
		LockRequest.of(key);
		try {
			return this.store.find(key).map(RegistryConsole::info);
		}
		catch (StoreException ex) {
			throw new LockStoreException(key, "look up", "Nothing is known about it", ex);
		}
	}

	/**
	 * Under which owner the store knows a lock of this registry. Who knows it can release
	 * the lock: it is not for logs.
	 * @param handle a handle
	 * @return the owner, or empty if the handle is not of this registry or has been
	 * released
	 */
	public Optional<String> ownerOf(LockHandle handle) {
		return (handle instanceof HeldLock held && held.belongsTo(this, held.key()))
				? Optional.of(held.hold().lease().owner()) : Optional.empty();
	}

	/**
	 * What an operator sees of the locks and may do to them.
	 * @return the console
	 */
	public LockConsole console() {
		return this.console;
	}

	/**
	 * How many locks this process holds. Nested handles share one lock; a lock that is
	 * kept for its {@code minHold} after its release is held by nobody. As cheap as it
	 * sounds, for any thread at any time.
	 * @return the number of locks
	 */
	public int heldLocks() {
		return this.keeper.size();
	}

	/**
	 * How many requests of this process wait for a lock: behind others of this process,
	 * for somebody elsewhere, or for the answer of the store. Looks at each key that is
	 * held or waited for, on any thread at any time: for a gauge, not for each request.
	 * @return the number of requests
	 */
	public int waitingCalls() {
		return this.queues.waiting().size();
	}

	/**
	 * The same as {@link #heldLocks()}, by the name of the request. Looks at each lock
	 * that is held: for gauges.
	 * @return the number of locks of each name, those without a name under an empty one;
	 * names of which no lock is held are missing
	 */
	public Map<String, Integer> heldLocksByName() {
		return this.counts.held();
	}

	/**
	 * The same as {@link #waitingCalls()}, by the name of the request.
	 * @return the number of requests of each name, those without a name under an empty
	 * one; names for which nobody waits are missing
	 */
	public Map<String, Integer> waitingCallsByName() {
		return this.counts.waiting();
	}

	/**
	 * How long the longest hold of each name has lasted that has not ended. Looks at each
	 * lock that is held: for gauges.
	 * @return the age of the oldest lock of each name, those without a name under an
	 * empty one; names of which no lock is held are missing
	 */
	public Map<String, Duration> longestHoldsByName() {
		return this.counts.longestHolds();
	}

	@Override
	public void validate(LockRequest request) {
		this.settings.validate(request);
	}

	@Override
	public void addListener(LockListener listener) {
		this.events.add(listener);
	}

	/**
	 * Have the whole shutdown timeout again after {@link #stop()}.
	 */
	@Override
	public void start() {
		this.grace = this.settings.shutdownTimeout();
		this.running = true;
	}

	/**
	 * Whether the lifecycle beans of the context run, as far as the registry knows. The
	 * registry grants locks in either case.
	 * @return {@code false} after {@link #stop()} and {@link #close()}
	 */
	@Override
	public boolean isRunning() {
		return this.running && this.open;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	/**
	 * Wait until the locks that are held now have ended, for the shutdown timeout at
	 * most. The registry goes on granting locks until {@link #close()}.
	 */
	@Override
	public void stop() {
		this.running = false;
		List<Lease> held = this.keeper.leases();
		spendShutdownTime((limit) -> this.keeper.awaitEnd(held, limit));
	}

	/**
	 * Wait for something with what is left of the shutdown timeout. The time that the
	 * wait takes is no longer there for {@link #stop()} and {@link #close()}.
	 * @param wait waits, at most as long as it is told
	 */
	public void spendShutdownTime(Consumer<Duration> wait) {
		long begin = this.clock.nanoTime();
		wait.accept(this.grace);
		Duration left = this.grace.minusNanos(this.clock.nanoTime() - begin);
		this.grace = left.isNegative() ? Duration.ZERO : left;
	}

	/**
	 * Holders are told first, so that nobody believes to hold what is being released. If
	 * the store is down the leases end by themselves.
	 */
	private void takeAway(List<Lease> leases) {
		List<Lease> lost = leases.stream().filter((lease) -> this.keeper.end(lease, SHUTDOWN)).toList();
		Deadline limit = Deadline.after(this.clock, this.settings.commandTimeout().multipliedBy(2));
		this.threads.inParallel(
				lost.stream().<Runnable>map((lease) -> () -> this.releaser.takeAway(lease, limit)).toList(), limit);
		// waiting requests leave, and give back the leases that were left to them
		this.queues.awaitNone(limit);
		this.revoker.flush(limit);
	}

	/**
	 * Accept no more requests, give running holders what is left of the shutdown timeout,
	 * take their locks away, and end the threads.
	 */
	@Override
	public void close() {
		if (this.open) {
			this.open = false;
			this.queues.signalAll();
			stop();
			end();
		}
		this.turns.close();
		this.threads.close();
	}

	private void end() {
		boolean interrupted = Thread.interrupted();
		try {
			takeAway(this.keeper.leases());
			this.threads.awaitEvents(EVENTS_AT_STOP);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
