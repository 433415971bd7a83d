package io.dlock.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.dlock.LockInfo;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.LossType;
import io.dlock.console.ForcedRelease;
import io.dlock.console.LocalLocks;
import io.dlock.console.LockConsole;
import io.dlock.console.LockKind;
import io.dlock.console.LockList;
import io.dlock.console.StoreReport;
import io.dlock.engine.concurrent.Deadline;
import io.dlock.engine.concurrent.MachineClock;
import io.dlock.engine.lease.AcquireContext;
import io.dlock.engine.lease.Hold;
import io.dlock.engine.lease.Hold.Loss;
import io.dlock.engine.lease.Lease;
import io.dlock.engine.lease.LeaseRenewer;
import io.dlock.engine.lease.LockInfos;
import io.dlock.engine.queue.LocalQueues;
import io.dlock.engine.queue.QueuedRequest;
import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;

/**
 * The console of a registry, with data of its queues, its leases and its store.
 */
final class RegistryConsole implements LockConsole {

	/**
	 * One key for all instances: a refusal by a healthy store proves as much as a grant.
	 */
	static final String CHECKED_KEY = "dlock/health-check";

	private static final int MAX_LIMIT = 10_000;

	private final LockStore store;

	private final LockSettings settings;

	private final MachineClock clock;

	private final LocalQueues queues;

	private final LeaseRenewer renewer;

	private final Semaphore listing = new Semaphore(1);

	/** The failure of the latest check, or {@code null}. */
	private volatile @Nullable String failure;

	RegistryConsole(LockStore store, LockSettings settings, MachineClock clock, LocalQueues queues,
			LeaseRenewer renewer) {
		this.store = store;
		this.settings = settings;
		this.clock = clock;
		this.queues = queues;
		this.renewer = renewer;
	}

	@Override
	public LocalLocks local() {
		List<QueuedRequest> waiting = this.queues.waiting();
		Map<String, Integer> waiters = new HashMap<>();
		waiting.forEach((queued) -> waiters.merge(queued.storageKey(), 1, Integer::sum));
		List<LocalLocks.Held> held = this.renewer.leases()
			.stream()
			.flatMap((lease) -> lease.holds().stream())
			.filter(Hold::isValid)
			.map((hold) -> held(hold, waiters.getOrDefault(hold.context().storageKey(), 0)))
			.sorted(Comparator.comparing(LocalLocks.Held::since).thenComparing(LocalLocks.Held::key))
			.toList();
		return new LocalLocks(held,
				waiting.stream().map(this::waiting).sorted(Comparator.comparing(LocalLocks.Waiting::since)).toList());
	}

	private LocalLocks.Held held(Hold hold, int waiting) {
		AcquireContext context = hold.context();
		LockRequest request = context.request();
		return new LocalLocks.Held(context.storageKey(), kind(context), request.name(), request.reason(),
				context.thread(), Instant.ofEpochMilli(hold.since().wallMillis()), inNanos(hold.validNanosLeft()),
				hold.token(), waiting, hold.age());
	}

	private LocalLocks.Waiting waiting(QueuedRequest queued) {
		AcquireContext context = queued.context();
		LockRequest request = context.request();
		Deadline deadline = context.deadline();
		return new LocalLocks.Waiting(queued.storageKey(), kind(context), request.name(), request.reason(),
				context.thread(), inNanos(-deadline.elapsed().toNanos()),
				deadline.isUnlimited() ? null : inNanos(deadline.remainingNanos()));
	}

	static LockKind kind(AcquireContext context) {
		if (context.terms().isShared()) {
			return LockKind.SHARED;
		}
		return context.terms().isMember() ? LockKind.PERMIT : LockKind.EXCLUSIVE;
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
			return new LockList(List.of(), false, "This store cannot list its locks: it has no StoreInspection");
		}
		if (!awaitOtherLists()) {
			return new LockList(List.of(), false, "Another list of the locks is being made");
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
			return this.listing.tryAcquire(this.settings.commandTimeout().toNanos(), TimeUnit.NANOSECONDS);
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
				.filter((lock) -> !lock.storageKey().equals(CHECKED_KEY))
				.map(LockInfos::of)
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
			return findKey(key);
		}
		return find(key, () -> inspection.findStored(StorageKey.ofShown(key)).stream()).findFirst();
	}

	@Override
	public List<LockInfo> findAll(String key) {
		StoreInspection inspection = this.store.inspection();
		if (inspection == null) {
			return findKey(key).stream().toList();
		}
		return find(key, () -> inspection.findAll(StorageKey.ofShown(key)).stream()).toList();
	}

	/**
	 * Look up a key as applications write it.
	 * @return the lock, or empty if it is not held
	 */
	Optional<LockInfo> findKey(String key) {
		return find(key, () -> this.store.find(key).stream()).findFirst();
	}

	private static Stream<LockInfo> find(String key, Supplier<Stream<StoredLock>> lookup) {
		LockRequest.of(key);
		try {
			return lookup.get().map(LockInfos::of);
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
			throw new UnsupportedOperationException(
					"This store cannot release a lock by force: it has no StoreInspection");
		}
		String storageKey = StorageKey.ofShown(key);
		long storeToken = Lease.storeToken(token);
		try {
			if (inspection.forceRelease(storageKey, storeToken)) {
				endLease(storageKey, storeToken);
				return ForcedRelease.RELEASED;
			}
			return inspection.findStored(storageKey).isPresent() ? ForcedRelease.OTHER_TOKEN : ForcedRelease.NOT_HELD;
		}
		catch (StoreException ex) {
			throw new LockStoreException(key, "release by force", "Check again whether it is held", ex);
		}
	}

	@Override
	public LockList forceReleaseAll(String instance) {
		if (instance.isBlank()) {
			throw new IllegalArgumentException("'instance' must not be blank");
		}
		LockList listed = list(MAX_LIMIT);
		List<LockInfo> released = new ArrayList<>();
		String problem = listed.problem();
		try {
			for (LockInfo lock : listed.locks()) {
				if (!lock.kept() && lock.instance().equals(instance)
						&& forceRelease(lock.key(), lock.token()) == ForcedRelease.RELEASED) {
					released.add(lock);
				}
			}
		}
		catch (LockStoreException ex) {
			problem = ex.getMessage();
		}
		return new LockList(released, listed.complete() && problem == null, problem);
	}

	/**
	 * A holder of this process learns of the loss at once and not from its next renewal.
	 */
	private void endLease(String storageKey, long storeToken) {
		for (Lease lease : this.renewer.leases()) {
			if (lease.firstToken() == storeToken * Lease.TOKENS_PER_LEASE
					&& lease.holder().context().storageKey().equals(storageKey)) {
				this.renewer.lose(lease, new Loss(LossType.FORCED, "it was released by force"));
			}
		}
	}

	/**
	 * The server is diagnosed first: a call that a demoted master rejects may make the
	 * store connect to another server.
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
			warnings = List.of("Failed to diagnose the store: " + ex.getMessage());
		}
		String failure = null;
		long begin = this.clock.nanoTime();
		try {
			this.failure = takeAndRelease() ? null : this.failure;
			failure = this.failure;
		}
		catch (StoreQuarantinedException ex) {
			warnings = Stream.concat(warnings.stream(), Stream.of(String.valueOf(ex.getMessage()))).toList();
		}
		catch (RuntimeException ex) {
			failure = String.valueOf(ex.getMessage());
		}
		this.failure = failure;
		Duration took = Duration.ofNanos(this.clock.nanoTime() - begin);
		return new StoreReport(this.store.describe(), failure, took, (facts != null) ? facts.server() : null,
				(facts != null) ? facts.role() : null, warnings);
	}

	/**
	 * A refusal, because another instance checks the store, is as good as a grant: the
	 * store has decided. It does not end a failure: the lock of the other instance may
	 * lack its acknowledgement. A quarantine is over soon, and ends for all instances at
	 * once: a load balancer must not take all of them out of service.
	 * @return whether the lock was granted
	 */
	private boolean takeAndRelease() {
		String owner = Lease.newOwner();
		Duration lease = this.settings.commandTimeout().multipliedBy(4);
		AcquireCommand command = new AcquireCommand(CHECKED_KEY, owner, lease,
				this.settings.instance() + " [health check]", "health check");
		boolean granted = acquire(command) instanceof AcquireResult.Granted;
		if (granted) {
			this.store.release(CHECKED_KEY, owner);
		}
		return granted;
	}

	/**
	 * A lock without an answer is released: the next check would be refused because of
	 * it.
	 */
	private AcquireResult acquire(AcquireCommand command) {
		try {
			return this.store.acquire(command);
		}
		catch (StoreException ex) {
			if (ex.effect() == Effect.UNKNOWN) {
				try {
					this.store.release(command.key(), command.owner());
				}
				catch (StoreException again) {
					ex.addSuppressed(again);
				}
			}
			throw ex;
		}
	}

}
