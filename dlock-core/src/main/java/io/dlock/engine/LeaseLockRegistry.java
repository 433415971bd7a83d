package io.dlock.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;

import org.springframework.context.SmartLifecycle;

import io.dlock.LockBusyException;
import io.dlock.LockHandle;
import io.dlock.LockInfo;
import io.dlock.LockListener;
import io.dlock.LockRegistry;
import io.dlock.LockRegistryClosedException;
import io.dlock.LockRequest;
import io.dlock.LockSet;
import io.dlock.LockSettings;
import io.dlock.console.LockConsole;
import io.dlock.console.LockCounts;
import io.dlock.engine.concurrent.EngineThreads;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.lease.LeaseRenewer;
import io.dlock.engine.lease.LockEvents;
import io.dlock.engine.lease.MinHoldEnforcer;
import io.dlock.engine.lease.Revoker;
import io.dlock.engine.lease.SharedLeases;
import io.dlock.engine.lease.StoreReleaser;
import io.dlock.engine.lease.StoreSweeper;
import io.dlock.engine.queue.LocalQueues;
import io.dlock.engine.queue.MemberQueues;
import io.dlock.engine.queue.StoreQueueMembership;
import io.dlock.engine.queue.StoreQueuePlaces;
import io.dlock.store.LockStore;

/**
 * The lock registry: leases in a {@link LockStore}.
 * <p>
 * {@link #close()} ends the registry: it accepts no more requests, wakes the waiting ones
 * with {@link LockRegistryClosedException}, gives running holders the shutdown timeout to
 * finish, and then declares their locks lost and releases them. It does not close the
 * store.
 * <p>
 * As a Spring bean the registry is closed when the context destroys it. When the
 * lifecycle beans of the context stop, it gives running holders the shutdown timeout to
 * finish while all beans are available, and goes on granting locks: an executor that
 * awaits its tasks runs them when its bean is destroyed. The starter has executors
 * destroyed before the registry. Without the starter, let their beans depend on it.
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

	private final LockStore store;

	private final LockSettings settings;

	private final EngineThreads threads;

	private final LockEvents events;

	private final LocalQueues queues;

	private final LeaseRenewer renewer;

	private final Revoker revoker;

	private final StoreQueueMembership membership;

	private final LeaseLockHandles handles;

	private final LockAcquirer acquirer;

	private final Downgrader downgrader;

	private final LockSetAcquirer setAcquirer;

	private final RegistryCounts counts;

	private final RegistryConsole console;

	private final RegistryShutdown shutdown;

	private volatile boolean running = true;

	/**
	 * Create a registry, which is open at once.
	 * @param store the store of the leases
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
		this.threads = threads;
		this.events = new LockEvents(threads);
		this.renewer = new LeaseRenewer(store, clock, threads, this.events);
		this.revoker = new Revoker(store, clock, threads, settings.commandTimeout());
		StoreReleaser storeReleaser = new StoreReleaser(store, this.renewer, this.revoker, threads);
		this.queues = new LocalQueues(settings.handOffMaxDuration().toNanos(), storeReleaser);
		MemberQueues members = new MemberQueues(this.queues, storeReleaser, settings.handOffMaxDuration().toNanos());
		StoreQueuePlaces places = new StoreQueuePlaces(this.queues);
		this.membership = new StoreQueueMembership(store, threads, places, settings.maxPollInterval());
		LeaseReleaser releaser = new LeaseReleaser(this.queues, members, storeReleaser, this.renewer,
				new MinHoldEnforcer(store, clock, this.revoker, threads), this.events, threads, settings.releaseMode());
		this.handles = new LeaseLockHandles(this.queues, releaser, this.renewer, this.events, this::downgrade);
		this.acquirer = new LockAcquirer(new RequestServices(settings, clock, this.queues,
				new StoreAcquirer(store, places, this.membership, clock, settings.commandTimeout().toNanos()),
				new LeaseLifecycle(settings, clock, this.queues, this.renewer, this.events, threads), this.revoker,
				members, new SharedLeases(settings.handOffMaxDuration().toNanos()), this.handles, this.events,
				threads));
		this.downgrader = new Downgrader(this.acquirer, this.queues, storeReleaser, this.handles, this.events, clock);
		this.setAcquirer = new LockSetAcquirer(this.acquirer, this.handles);
		this.counts = new RegistryCounts(this.renewer, this.queues, store);
		this.console = new RegistryConsole(store, settings, clock, this.queues, this.renewer);
		this.shutdown = new RegistryShutdown(settings, clock, threads, this.queues, this.renewer, this.revoker,
				this.membership, releaser);
		new StoreSweeper(store, threads).start();
	}

	/**
	 * The store of the leases.
	 * @return the store
	 */
	public LockStore store() {
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

	LeaseRenewer renewer() {
		return this.renewer;
	}

	Revoker revoker() {
		return this.revoker;
	}

	StoreQueueMembership membership() {
		return this.membership;
	}

	@Override
	public LockHandle acquire(LockRequest request) {
		return this.acquirer.acquire(request);
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

	@Override
	public CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
		return this.acquirer.acquireAsync(request);
	}

	@Override
	public CompletableFuture<LockHandle> acquireAsync(LockRequest request, LockHandle outer) {
		return this.acquirer.acquireAsync(request, outer);
	}

	@Override
	public LockHandle acquirePermit(LockRequest request, int limit) {
		return this.acquirer.acquirePermit(request, limit);
	}

	@Override
	public CompletableFuture<LockHandle> acquirePermitAsync(LockRequest request, int limit) {
		return this.acquirer.acquirePermitAsync(request, limit);
	}

	@Override
	public void validatePermit(LockRequest request, int limit) {
		this.acquirer.validatePermit(request, limit);
	}

	private LeaseLockHandle downgrade(LeaseLockHandle handle) {
		return this.downgrader.downgrade(handle);
	}

	@Override
	public LockSet acquireAll(LockRequest template, Collection<String> keys) {
		return this.setAcquirer.acquire(template, keys);
	}

	@Override
	public CompletableFuture<LockSet> acquireAllAsync(LockRequest template, Collection<String> keys) {
		return acquireAllAsync(template, keys, List.of());
	}

	@Override
	public CompletableFuture<LockSet> acquireAllAsync(LockRequest template, Collection<String> keys,
			Collection<? extends LockHandle> outer) {
		return this.setAcquirer.acquireAsync(template, keys, outer);
	}

	@Override
	public Lock lock(LockRequest request) {
		validate(request);
		return new LockAdapter(request, this.acquirer, this.handles);
	}

	@Override
	public boolean isHeldByCurrentThread(String key) {
		return this.handles.isHeld(key);
	}

	@Override
	public boolean owns(LockHandle handle) {
		return this.handles.owns(handle);
	}

	@Override
	public Optional<LockInfo> find(String key) {
		return this.console.findKey(key);
	}

	/**
	 * The owner that the store knows a lock of this registry by. The owner permits the
	 * release of the lock: keep it out of logs.
	 * @param handle a handle
	 * @return the owner, or empty if the handle is not of this registry or has been
	 * released
	 */
	public Optional<String> ownerOf(LockHandle handle) {
		return Optional.ofNullable(this.handles.ownerOf(handle));
	}

	/**
	 * The operator's view of the locks.
	 * @return the console
	 */
	public LockConsole console() {
		return this.console;
	}

	/**
	 * The counts of the locks of this process, for gauges.
	 * @return the counts
	 */
	public LockCounts counts() {
		return this.counts;
	}

	@Override
	public void validate(LockRequest request) {
		this.acquirer.validate(request);
	}

	@Override
	public void addListener(LockListener listener) {
		this.events.add(listener);
	}

	@Override
	public void removeListener(LockListener listener) {
		this.events.remove(listener);
	}

	/**
	 * Restore the shutdown timeout after {@link #stop()}.
	 */
	@Override
	public void start() {
		this.shutdown.reset();
		this.running = true;
	}

	/**
	 * Whether the registry has been started or stopped by its context. It grants locks in
	 * either case.
	 * @return {@code false} after {@link #stop()} and {@link #close()}
	 */
	@Override
	public boolean isRunning() {
		return this.running && this.queues.isOpen();
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	/**
	 * Wait until the locks that are held now have ended, up to the shutdown timeout. The
	 * registry goes on granting locks until {@link #close()}.
	 */
	@Override
	public void stop() {
		this.running = false;
		this.shutdown.awaitHolders();
	}

	/**
	 * Spend a part of the shutdown timeout, which shortens the waits of {@link #stop()}
	 * and {@link #close()}.
	 * @param wait waits, at most for the duration that it receives
	 */
	public void spendShutdownTime(Consumer<Duration> wait) {
		this.shutdown.spend(wait);
	}

	/**
	 * Accept no more requests, give running holders the rest of the shutdown timeout,
	 * take their locks away, and end the threads. A second caller waits for the first:
	 * the holders are renewed and told meanwhile.
	 */
	@Override
	public void close() {
		this.shutdown.close();
	}

}
