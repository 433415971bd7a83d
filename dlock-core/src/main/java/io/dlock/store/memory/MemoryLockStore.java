package io.dlock.store.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockRecord;
import io.dlock.store.LockRecord.Change;
import io.dlock.store.LockStore;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.MemberAcquire;
import io.dlock.store.QuorumCapable;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;
import io.dlock.store.WaitingQueue;

/**
 * A store inside the process, for tests and for applications of which only one instance
 * runs. It excludes no other process.
 *
 * @since 0.1
 */
public final class MemoryLockStore implements LockStore, StoreInspection, QuorumCapable {

	private final Map<String, LockRecord> records = new ConcurrentHashMap<>();

	private final Map<MailboxAddress, Consumer<String>> mailboxes = new ConcurrentHashMap<>();

	private final LongSupplier nanoTime;

	private final long begin;

	/** The microseconds since 1970 when the clock said {@link #begin}. */
	private final long epoch = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());

	private final String id = UUID.randomUUID().toString();

	/** One clock mints the tokens of all keys. */
	private final TokenClock tokens = new TokenClock();

	/**
	 * Create an empty store.
	 */
	public MemoryLockStore() {
		this(System::nanoTime);
	}

	/**
	 * Create an empty store with the clock of the caller, for tests that let leases
	 * expire.
	 * @param nanoTime the monotonic clock that leases are measured with
	 */
	public MemoryLockStore(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
		this.begin = nanoTime.getAsLong();
	}

	@Override
	public AcquireResult acquire(AcquireCommand command) {
		return acquire(command, 0);
	}

	@Override
	public AcquireResult acquire(AcquireCommand command, long leastToken) {
		long now = now();
		return change(command.key(), (held) -> {
			if (LockStore.isMember(command.owner())) {
				return new MemberAcquire(command, now, this.tokens.next(0)).on(held);
			}
			String releasing = command.releasing();
			return acquire(command, leastToken, (releasing != null) ? released(held, releasing, now).record() : held,
					now);
		});
	}

	private Change<AcquireResult> acquire(AcquireCommand command, long leastToken, LockRecord held, long now) {
		MailboxAddress mailbox = command.mailbox();
		long until = now + LockRecord.micros(command.lease());
		if (held.owner().equals(command.owner())) {
			LockRecord longer = held.until(Math.max(held.until(), until));
			return new Change<>(longer, new AcquireResult.Granted(held.token()));
		}
		boolean free = held.owner().isEmpty() || (held.isOver(now) && isFirst(command, held))
				|| (mailbox != null && held.owner().equals(mailbox.reservationOwner()));
		if (!free) {
			LockRecord queued = (mailbox != null && command.queueing()) ? held.asked(mailbox, now) : held;
			if (held.isOver(now)) {
				queued = queued.passedOn(now);
			}
			return new Change<>(queued,
					new AcquireResult.Refused(Duration.of(queued.until() - now, ChronoUnit.MICROS),
							held.current(StorageKey.of(command.key()), now),
							queued.waiting().place(mailbox, false, command.queueing())));
		}
		LockRecord granted = new LockRecord(command.owner(), until, this.tokens.next(leastToken), now, command.holder(),
				command.reason(), List.of(), held.waiting().without(mailbox, false));
		return new Change<>(granted, new AcquireResult.Granted(granted.token()));
	}

	private static boolean isFirst(AcquireCommand command, LockRecord held) {
		return !command.isFair() || held.waiting().isEmpty()
				|| held.waiting().place(command.mailbox(), false, true) == 0;
	}

	/**
	 * Replace a record, and notify the processes that the key is reserved for.
	 */
	private <T> T change(String key, Function<LockRecord, Change<T>> next) {
		return changeStored(StorageKey.of(key), next);
	}

	private <T> T changeStored(String storageKey, Function<LockRecord, Change<T>> next) {
		RecordUpdate<T> update = new RecordUpdate<>(next);
		this.records.compute(storageKey, update);
		if (!update.reserved().isEmpty()) {
			update.reserved().forEach((address) -> notify(address, storageKey));
		}
		return update.answer();
	}

	private void notify(MailboxAddress address, String storageKey) {
		Consumer<String> mailbox = this.mailboxes.get(address.mailbox());
		if (mailbox != null) {
			mailbox.accept(address.message(storageKey));
		}
	}

	private static Change<Boolean> released(LockRecord held, String owner, long now) {
		if (LockStore.isMember(owner)) {
			return held.release(owner, now);
		}
		if (!isHeldBy(held, owner, now)) {
			return new Change<>(held, false);
		}
		return new Change<>(held.waiting().isEmpty() ? LockRecord.NONE : held.passedOn(now), true);
	}

	private long now() {
		return this.epoch + Math.floorDiv(this.nanoTime.getAsLong() - this.begin, 1000L);
	}

	@Override
	public boolean supportsMembers() {
		return true;
	}

	@Override
	public boolean supportsFairLocks() {
		return true;
	}

	@Override
	public Mailbox openMailbox(MailboxAddress address, Consumer<String> onLockAvailable) {
		this.mailboxes.put(address, onLockAvailable);
		return () -> this.mailboxes.remove(address);
	}

	@Override
	public void leave(String storageKey, MailboxAddress mailbox) {
		long now = now();
		changeStored(storageKey, (held) -> {
			Change<Boolean> released = released(held, mailbox.reservationOwner(), now);
			return released.answer() ? released : new Change<>(held.leave(mailbox, now), false);
		});
	}

	@Override
	public List<RenewResult> renew(List<RenewCommand> leases) {
		return leases.stream().map(this::renew).toList();
	}

	private RenewResult renew(RenewCommand command) {
		long now = now();
		boolean renewed = change(command.key(), (held) -> {
			long lease = LockRecord.micros(command.lease());
			if (LockStore.isMember(command.owner())) {
				return held.renew(command.owner(), lease, now);
			}
			boolean holds = isHeldBy(held, command.owner(), now);
			return new Change<>(holds ? held.until(Math.max(held.until(), now + lease)) : held, holds);
		});
		return renewed ? RenewResult.RENEWED : RenewResult.REFUSED;
	}

	@Override
	public boolean release(String key, String owner) {
		long now = now();
		return change(key, (held) -> released(held, owner, now));
	}

	@Override
	public boolean raiseToken(String key, String owner, long token) {
		long now = now();
		return change(key, (held) -> {
			if (!isHeldBy(held, owner, now)) {
				return new Change<>(held, false);
			}
			this.tokens.raise(token);
			return new Change<>(held.atLeastToken(token), true);
		});
	}

	@Override
	public String serverId() {
		return this.id;
	}

	@Override
	public boolean keep(String key, String owner, Duration rest) {
		long now = now();
		return change(key, (held) -> {
			boolean holds = isHeldBy(held, owner, now);
			return new Change<>(holds ? held.keptUntil(now + LockRecord.micros(rest)) : held, holds);
		});
	}

	@Override
	public Optional<StoredLock> find(String key) {
		return findStored(StorageKey.of(key));
	}

	@Override
	public StoreInspection inspection() {
		return this;
	}

	@Override
	public Optional<StoredLock> findStored(String storageKey) {
		return stored(storageKey).reduce((first, last) -> last);
	}

	@Override
	public List<StoredLock> findAll(String storageKey) {
		return stored(storageKey).toList();
	}

	private Stream<StoredLock> stored(String storageKey) {
		long now = now();
		return this.records.getOrDefault(storageKey, LockRecord.NONE).stored(storageKey, now).stream();
	}

	@Override
	public StoredLocks list(int limit) {
		return StoredLocks.of(this.records.keySet().stream().flatMap(this::stored).limit(limit + 1L).toList(), limit);
	}

	@Override
	public boolean forceRelease(String storageKey, long token) {
		long now = now();
		return changeStored(storageKey, (held) -> {
			if (held.owner().equals(LockRecord.MEMBERS)) {
				return held.forceRelease(token, now);
			}
			boolean meant = held.token() == token && !held.stored(storageKey, now).isEmpty();
			return new Change<>(meant ? held.passedOn(now) : held, meant);
		});
	}

	@Override
	public StoreFacts diagnose() {
		return new StoreFacts("memory", null, List.of("Other processes do not see these locks"));
	}

	@Override
	public void verify() {
	}

	@Override
	public boolean sweep() {
		long now = now();
		this.records.values().removeIf((record) -> record.isOver(now));
		return false;
	}

	/**
	 * Remove all locks, as if the store had lost its data.
	 */
	public void clear() {
		this.records.clear();
	}

	void setLastToken(long token) {
		this.tokens.set(token);
	}

	boolean replaceQueue(String key, WaitingQueue queue) {
		return change(key, (held) -> new Change<>(held.withWaiting(queue), true));
	}

	int mailboxes() {
		return this.mailboxes.size();
	}

	int waiting(String key) {
		return this.records.getOrDefault(StorageKey.of(key), LockRecord.NONE).waiting().size();
	}

	int size() {
		return this.records.size();
	}

	@Override
	public String describe() {
		return "memory (this process only)";
	}

	@Override
	public void close() {
	}

	private static boolean isHeldBy(LockRecord record, String owner, long now) {
		return record.owner().equals(owner) && !record.isOver(now);
	}

}
