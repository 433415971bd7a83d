package com.example.locks;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoredLock;

/**
 * The least that a store has to do, without any optional feature.
 */
final class MinimalLockStore implements LockStore {

	private final Map<String, Entry> entries = new HashMap<>();

	@Override
	public synchronized AcquireResult acquire(AcquireCommand command) {
		if (command.releasing() != null) {
			release(command.key(), command.releasing());
		}
		Entry entry = this.entries.computeIfAbsent(command.key(), (key) -> new Entry());
		Instant now = Instant.now();
		if (entry.isHeld(now) && !command.owner().equals(entry.owner)) {
			return new Refused(Duration.between(now, entry.until), entry.shown(command.key()));
		}
		if (!entry.isHeld(now)) {
			entry.owner = command.owner();
			entry.holder = command.holder();
			entry.reason = command.reason();
			entry.since = now;
			entry.until = now;
			entry.token = Math.max(entry.token + 1, micros(now));
		}
		entry.prolong(now.plus(command.lease()));
		return new Granted(entry.token);
	}

	private static long micros(Instant time) {
		return Math.addExact(time.getEpochSecond() * 1_000_000, time.getNano() / 1000);
	}

	@Override
	public synchronized List<RenewResult> renew(List<RenewCommand> leases) {
		return leases.stream().map(this::renew).toList();
	}

	private RenewResult renew(RenewCommand lease) {
		Entry entry = heldBy(lease.key(), lease.owner());
		if (entry == null) {
			return RenewResult.REFUSED;
		}
		entry.prolong(Instant.now().plus(lease.lease()));
		return RenewResult.RENEWED;
	}

	@Override
	public synchronized boolean release(String key, String owner) {
		Entry entry = heldBy(key, owner);
		if (entry == null) {
			return false;
		}
		entry.owner = null;
		return true;
	}

	private @Nullable Entry heldBy(String key, String owner) {
		Entry entry = this.entries.get(key);
		return (entry != null && entry.isHeld(Instant.now()) && owner.equals(entry.owner)) ? entry : null;
	}

	@Override
	public synchronized Optional<StoredLock> find(String key) {
		return Optional.ofNullable(this.entries.get(key))
			.filter((entry) -> entry.isHeld(Instant.now()))
			.map((entry) -> entry.shown(key));
	}

	@Override
	public void verify() {
	}

	@Override
	public String describe() {
		return "a map";
	}

	@Override
	public void close() {
	}

	synchronized void clear() {
		this.entries.clear();
	}

	synchronized void setLastToken(String key, long token) {
		this.entries.computeIfAbsent(key, (absent) -> new Entry()).token = token;
	}

	private static final class Entry {

		private @Nullable String owner;

		private String holder = "";

		private String reason = "";

		private long token;

		private Instant since = Instant.EPOCH;

		private Instant until = Instant.EPOCH;

		boolean isHeld(Instant now) {
			return this.owner != null && now.isBefore(this.until);
		}

		void prolong(Instant end) {
			this.until = end.isAfter(this.until) ? end : this.until;
		}

		StoredLock shown(String key) {
			return new StoredLock(StorageKey.of(key), this.holder, this.reason, this.since, this.until, this.token,
					Duration.between(this.since, Instant.now()), false);
		}

	}

}
