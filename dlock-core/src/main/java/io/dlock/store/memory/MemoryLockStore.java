package io.dlock.store.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoredLock;

/**
 * A store inside the process: for tests, and for applications of which only one instance
 * runs. It excludes nothing outside the process.
 *
 * @since 0.1
 */
public final class MemoryLockStore implements LockStore {

	private final Map<String, Entry> entries = new ConcurrentHashMap<>();

	private final LongSupplier nanoTime;

	/** The clock that tokens are minted from: one counter is enough for all keys. */
	private final TokenClock tokens = new TokenClock();

	/**
	 * Create an empty store.
	 */
	public MemoryLockStore() {
		this(System::nanoTime);
	}

	/**
	 * Create an empty store with a clock of the caller's, for tests that let leases run
	 * out.
	 * @param nanoTime the monotonic clock that leases are measured with
	 */
	public MemoryLockStore(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
	}

	@Override
	public AcquireResult acquire(AcquireCommand command) {
		long now = this.nanoTime.getAsLong();
		Entry entry = this.entries.compute(command.key(), (key, held) -> {
			long until = now + command.lease().toNanos();
			if (held != null && held.owner.equals(command.owner())) {
				return held.until(until);
			}
			if (held != null && !held.isOver(now)) {
				return held;
			}
			return new Entry(command.owner(), this.tokens.next(), until, command.holder(), command.reason(),
					Instant.now());
		});
		if (entry.owner.equals(command.owner())) {
			return new AcquireResult.Granted(entry.token);
		}
		return new AcquireResult.Refused(Duration.ofNanos(Math.max(0, entry.until - now)), entry.holder);
	}

	@Override
	public List<RenewResult> renew(List<RenewCommand> leases) {
		return leases.stream().map(this::renew).toList();
	}

	private RenewResult renew(RenewCommand command) {
		long now = this.nanoTime.getAsLong();
		Entry entry = this.entries.computeIfPresent(command.key(), (key, held) -> {
			if (held.isOver(now) || !held.owner.equals(command.owner())) {
				return held;
			}
			return held.until(Math.max(held.until, now + command.lease().toNanos()));
		});
		return isHeldBy(entry, command.owner(), now) ? RenewResult.RENEWED : RenewResult.REFUSED;
	}

	@Override
	public boolean release(String key, String owner) {
		boolean[] released = new boolean[1];
		this.entries.computeIfPresent(key, (k, held) -> {
			released[0] = held.owner.equals(owner);
			return released[0] ? null : held;
		});
		return released[0];
	}

	@Override
	public Optional<StoredLock> find(String key) {
		long now = this.nanoTime.getAsLong();
		Entry entry = this.entries.get(key);
		if (entry == null || entry.isOver(now)) {
			return Optional.empty();
		}
		return Optional.of(new StoredLock(StorageKey.of(key), entry.holder, entry.reason, entry.since,
				Instant.now().plusNanos(entry.until - now), entry.token));
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
	 * Forget all locks, as a store does that lost its data.
	 */
	public void clear() {
		this.entries.clear();
	}

	void setLastToken(long token) {
		this.tokens.last.set(token);
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
		return entry != null && entry.owner.equals(owner) && !entry.isOver(now);
	}

	private record Entry(String owner, long token, long until, String holder, String reason, Instant since) {

		boolean isOver(long now) {
			return now - this.until >= 0;
		}

		Entry until(long until) {
			return new Entry(this.owner, this.token, until, this.holder, this.reason, this.since);
		}

	}

	/**
	 * A hybrid logical clock: the wall clock in microseconds, but always rising.
	 */
	private static final class TokenClock {

		private final AtomicLong last = new AtomicLong();

		long next() {
			long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
			return this.last.updateAndGet((previous) -> Math.max(previous + 1, now));
		}

	}

}
