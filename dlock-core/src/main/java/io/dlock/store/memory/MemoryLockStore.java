package io.dlock.store.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;

/**
 * A store inside the process, for tests and for applications of which only one instance
 * runs. It excludes no other process.
 *
 * @since 0.1
 */
public final class MemoryLockStore implements LockStore, StoreInspection {

	private final Map<String, Entry> entries = new ConcurrentHashMap<>();

	/** The mailboxes by the owner of a reservation for them. */
	private final Map<String, Consumer<String>> mailboxes = new ConcurrentHashMap<>();

	private final LongSupplier nanoTime;

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
	}

	@Override
	public AcquireResult acquire(AcquireCommand command) {
		long now = this.nanoTime.getAsLong();
		String storageKey = StorageKey.of(command.key());
		Entry entry = this.entries.compute(storageKey,
				(key, held) -> acquire(command, afterRelease(command, held, now), now));
		if (entry.owner().equals(command.owner())) {
			return new AcquireResult.Granted(entry.token());
		}
		if (command.releasing() != null) {
			notifyReserved(entry, storageKey);
		}
		return new AcquireResult.Refused(Duration.ofNanos(Math.max(0, entry.until() - now)),
				(entry.isReservation() || entry.isKept()) ? null : entry.holder());
	}

	private static @Nullable Entry afterRelease(AcquireCommand command, @Nullable Entry held, long now) {
		return (held != null && held.owner().equals(command.releasing())) ? held.passOn(now) : held;
	}

	private Entry acquire(AcquireCommand command, @Nullable Entry held, long now) {
		MailboxAddress mailbox = command.mailbox();
		long until = now + command.lease().toNanos();
		if (held != null && held.owner().equals(command.owner())) {
			return held.until(Math.max(held.until(), until));
		}
		boolean free = held == null || held.isOver(now)
				|| (mailbox != null && held.owner().equals(mailbox.reservationOwner()));
		if (held != null && !free) {
			return (mailbox != null && command.queueing()) ? held.queue(mailbox) : held;
		}
		List<MailboxAddress> waiting = (held != null) ? held.without(mailbox) : List.of();
		return new Entry(command.owner(), this.tokens.next(), until, command.holder(), command.reason(), Instant.now(),
				waiting);
	}

	private void notifyReserved(Entry entry, String storageKey) {
		Consumer<String> mailbox = this.mailboxes.get(entry.owner());
		if (mailbox != null) {
			mailbox.accept(storageKey);
		}
	}

	@Override
	public Mailbox openMailbox(MailboxAddress address, Consumer<String> onLockAvailable) {
		this.mailboxes.put(address.reservationOwner(), onLockAvailable);
		return () -> this.mailboxes.remove(address.reservationOwner());
	}

	@Override
	public void leave(String storageKey, MailboxAddress mailbox) {
		if (!pass(storageKey, (held) -> held.owner().equals(mailbox.reservationOwner()))) {
			this.entries.computeIfPresent(storageKey, (key, held) -> held.withWaiting(held.without(mailbox)));
		}
	}

	/**
	 * End a hold, or reserve the lock for the first process of the queue.
	 */
	private boolean pass(String storageKey, Predicate<Entry> meant) {
		long now = this.nanoTime.getAsLong();
		while (true) {
			Entry held = this.entries.get(storageKey);
			if (held == null || !meant.test(held)) {
				return false;
			}
			Entry next = held.passOn(now);
			if (next == null && this.entries.remove(storageKey, held)) {
				return true;
			}
			if (next != null && this.entries.replace(storageKey, held, next)) {
				notifyReserved(next, storageKey);
				return true;
			}
		}
	}

	@Override
	public List<RenewResult> renew(List<RenewCommand> leases) {
		return leases.stream().map(this::renew).toList();
	}

	private RenewResult renew(RenewCommand command) {
		long now = this.nanoTime.getAsLong();
		Entry entry = this.entries.computeIfPresent(StorageKey.of(command.key()), (key, held) -> {
			if (held.isOver(now) || !held.owner().equals(command.owner())) {
				return held;
			}
			return held.until(Math.max(held.until(), now + command.lease().toNanos()));
		});
		return isHeldBy(entry, command.owner(), now) ? RenewResult.RENEWED : RenewResult.REFUSED;
	}

	@Override
	public boolean release(String key, String owner) {
		return pass(StorageKey.of(key), (held) -> held.owner().equals(owner));
	}

	@Override
	public boolean keep(String key, String owner, Duration rest) {
		long now = this.nanoTime.getAsLong();
		boolean[] kept = new boolean[1];
		this.entries.computeIfPresent(StorageKey.of(key), (storageKey, held) -> {
			kept[0] = isHeldBy(held, owner, now);
			return kept[0] ? held.keptUntil(now + rest.toNanos()) : held;
		});
		return kept[0];
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
		long now = this.nanoTime.getAsLong();
		return Optional.ofNullable(this.entries.get(storageKey))
			.filter((entry) -> entry.isHeld(now))
			.map((entry) -> entry.stored(storageKey, now));
	}

	@Override
	public StoredLocks list(int limit) {
		return StoredLocks.of(
				this.entries.keySet().stream().flatMap((key) -> findStored(key).stream()).limit(limit + 1L).toList(),
				limit);
	}

	@Override
	public boolean forceRelease(String storageKey, long token) {
		long now = this.nanoTime.getAsLong();
		return pass(storageKey, (held) -> held.isHeld(now) && held.token() == token);
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
		long now = this.nanoTime.getAsLong();
		this.entries.values().removeIf((entry) -> entry.isOver(now));
		return false;
	}

	/**
	 * Remove all locks, as if the store had lost its data.
	 */
	public void clear() {
		this.entries.clear();
	}

	void setLastToken(long token) {
		this.tokens.set(token);
	}

	int mailboxes() {
		return this.mailboxes.size();
	}

	int waiting(String key) {
		Entry entry = this.entries.get(StorageKey.of(key));
		return (entry != null) ? entry.waiting().size() : 0;
	}

	int size() {
		return this.entries.size();
	}

	@Override
	public String describe() {
		return "memory (this process only)";
	}

	@Override
	public void close() {
	}

	private static boolean isHeldBy(@Nullable Entry entry, String owner, long now) {
		return entry != null && entry.owner().equals(owner) && !entry.isOver(now);
	}

}
