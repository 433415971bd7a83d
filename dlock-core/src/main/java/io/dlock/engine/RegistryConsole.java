package io.dlock.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.dlock.ForcedRelease;
import io.dlock.LocalLocks;
import io.dlock.LockConsole;
import io.dlock.LockInfo;
import io.dlock.LockList;
import io.dlock.LockRequest;
import io.dlock.LockStoreException;
import io.dlock.LossType;
import io.dlock.StoreReport;
import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreException;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;

/**
 * The console of a registry: reads what the registry keeps anyway, and asks its store.
 */
final class RegistryConsole implements LockConsole {

	/** One for all instances: whoever finds it taken knows as much. */
	static final String CHECKED_KEY = "dlock/health-check";

	private static final int MAX_LIMIT = 10_000;

	private final LeaseLockRegistry registry;

	private final LockStore store;

	private final MachineClock clock;

	private final Semaphore listing = new Semaphore(1);

	RegistryConsole(LeaseLockRegistry registry) {
		this.registry = registry;
		this.store = registry.store();
		this.clock = registry.keeper().clock();
	}

	/**
	 * What a store knows of a lock, for people.
	 */
	static LockInfo info(StoredLock lock) {
		return new LockInfo(lock.storageKey(), lock.holder(), lock.reason().isEmpty() ? null : lock.reason(),
				lock.since(), lock.until(), lock.token() * Lease.TOKENS_PER_LEASE,
				lock.age().isNegative() ? Duration.ZERO : lock.age(), lock.kept());
	}

	@Override
	public LocalLocks local() {
		List<Turn> waiting = this.registry.queues().waiting();
		Map<String, Integer> waiters = new HashMap<>();
		waiting.forEach((turn) -> waiters.merge(turn.storageKey(), 1, Integer::sum));
		List<LocalLocks.Held> held = this.registry.keeper()
			.leases()
			.stream()
			.map(Lease::holder)
			.filter(Hold::isValid)
			.map((hold) -> held(hold, waiters.getOrDefault(hold.turn().storageKey(), 0)))
			.sorted(Comparator.comparing(LocalLocks.Held::since).thenComparing(LocalLocks.Held::key))
			.toList();
		return new LocalLocks(held,
				waiting.stream().map(this::waiting).sorted(Comparator.comparing(LocalLocks.Waiting::since)).toList());
	}

	private LocalLocks.Held held(Hold hold, int waiting) {
		Acquisition acquisition = hold.turn().acquisition();
		LockRequest request = acquisition.request();
		return new LocalLocks.Held(hold.turn().storageKey(), request.name(), request.reason(), acquisition.thread(),
				Instant.ofEpochMilli(hold.since().wallMillis()), inNanos(hold.validNanosLeft()), hold.token(), waiting,
				hold.age());
	}

	private LocalLocks.Waiting waiting(Turn turn) {
		Acquisition acquisition = turn.acquisition();
		LockRequest request = acquisition.request();
		Deadline deadline = acquisition.deadline();
		return new LocalLocks.Waiting(turn.storageKey(), request.name(), request.reason(), acquisition.thread(),
				inNanos(-deadline.elapsed().toNanos()),
				deadline.isForever() ? null : inNanos(deadline.remainingNanos()));
	}

	private Instant inNanos(long nanos) {
		return Instant.ofEpochMilli(this.clock.wallMillis()).plusNanos(nanos);
	}

	@Override
	public LockList list(int limit) {
		if (limit < 1 || limit > MAX_LIMIT) {
			throw new IllegalArgumentException("'limit' must be from 1 to " + MAX_LIMIT + " but is " + limit);
		}
		StoreInspection inspection = this.store.inspection();
		if (inspection == null) {
			return new LockList(List.of(), false, "This store can not list its locks");
		}
		if (!awaitOtherLists()) {
			return new LockList(List.of(), false, "The locks are being listed for somebody else");
		}
		try {
			return list(inspection, limit);
		}
		finally {
			this.listing.release();
		}
	}

	/**
	 * One list at a time: each keeps a connection of the locks and the store busy.
	 */
	private boolean awaitOtherLists() {
		try {
			return this.listing.tryAcquire(this.registry.settings().commandTimeout().toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	private static LockList list(StoreInspection inspection, int limit) {
		try {
			StoredLocks stored = inspection.list(limit);
			return new LockList(stored.locks()
				.stream()
				.map(RegistryConsole::info)
				.sorted(Comparator.comparing(LockInfo::key))
				.toList(), stored.complete(), null);
		}
		catch (RuntimeException ex) {
			return new LockList(List.of(), false, String.valueOf(ex.getMessage()));
		}
	}

	@Override
	public Optional<LockInfo> find(String key) {
		StoreInspection inspection = this.store.inspection();
		if (inspection == null) {
			return this.registry.find(key);
		}
		LockRequest.of(key);
		try {
			return inspection.findStored(StorageKey.ofShown(key)).map(RegistryConsole::info);
		}
		catch (StoreException ex) {
			throw new LockStoreException(key, "look up", "Nothing is known about it", ex);
		}
	}

	@Override
	public ForcedRelease forceRelease(String key, long token) {
		LockRequest.of(key);
		StoreInspection inspection = this.store.inspection();
		if (inspection == null) {
			throw new UnsupportedOperationException("This store can not release a lock by force");
		}
		String storageKey = StorageKey.ofShown(key);
		long storeToken = Math.floorDiv(token, Lease.TOKENS_PER_LEASE);
		try {
			if (inspection.forceRelease(storageKey, storeToken)) {
				tellHolder(storageKey, storeToken);
				return ForcedRelease.RELEASED;
			}
			return inspection.findStored(storageKey).isPresent() ? ForcedRelease.OTHER_TOKEN : ForcedRelease.NOT_HELD;
		}
		catch (StoreException ex) {
			throw new LockStoreException(key, "release by force", "Look again whether it is held", ex);
		}
	}

	/**
	 * A holder of this process need not wait for its next renewal.
	 */
	private void tellHolder(String storageKey, long storeToken) {
		for (Lease lease : this.registry.keeper().leases()) {
			if (lease.firstToken() == storeToken * Lease.TOKENS_PER_LEASE
					&& lease.holder().turn().storageKey().equals(storageKey)) {
				this.registry.keeper().end(lease, new Loss(LossType.FORCED, "it was released by force"));
			}
		}
	}

	/**
	 * The questions come first: a server that refuses a lock may get a new connection.
	 */
	@Override
	public StoreReport check() {
		StoreFacts facts = null;
		List<String> warnings = List.of();
		try {
			StoreInspection inspection = this.store.inspection();
			facts = (inspection != null) ? inspection.diagnose() : null;
			warnings = (facts != null) ? facts.warnings() : warnings;
		}
		catch (RuntimeException ex) {
			warnings = List.of("The store could not be asked about itself: " + ex.getMessage());
		}
		String failure = null;
		long begin = this.clock.nanoTime();
		try {
			takeAndRelease();
		}
		catch (RuntimeException ex) {
			failure = String.valueOf(ex.getMessage());
		}
		Duration took = Duration.ofNanos(this.clock.nanoTime() - begin);
		return new StoreReport(this.store.describe(), failure, took, (facts != null) ? facts.server() : null,
				(facts != null) ? facts.role() : null, warnings);
	}

	/**
	 * That another instance is at it is as good as a grant: the store has decided.
	 */
	private void takeAndRelease() {
		String owner = OwnerIds.next();
		Duration lease = this.registry.settings().commandTimeout().multipliedBy(4);
		AcquireResult result = this.store.acquire(new AcquireCommand(CHECKED_KEY, owner, lease,
				this.registry.settings().instance() + " [health check]", "health check"));
		if (result instanceof AcquireResult.Granted) {
			this.store.release(CHECKED_KEY, owner);
		}
	}

}
