package io.dlock.store.quorum;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import io.dlock.store.LockStore;
import io.dlock.store.StoreFacts;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;
import io.dlock.store.StoredLocks;

/**
 * Merges what the nodes know. A lock is held if a majority of the nodes has it with the
 * same token, or may have it.
 */
final class QuorumInspection implements StoreInspection {

	private final Quorum quorum;

	QuorumInspection(Quorum quorum) {
		this.quorum = quorum;
	}

	private static StoreInspection of(LockStore store) {
		return Objects.requireNonNull(store.inspection());
	}

	@Override
	public StoredLocks list(int limit) {
		Round<StoredLocks> round = this.quorum.askAll("list the locks", (store) -> of(store).list(limit));
		Map<String, List<StoredLock>> byKey = new LinkedHashMap<>();
		boolean complete = true;
		int unknown = round.unknown();
		for (StoredLocks locks : round.values()) {
			complete &= locks.complete();
			unknown += locks.complete() ? 0 : 1;
			locks.locks()
				.forEach((lock) -> byKey.computeIfAbsent(lock.storageKey(), (key) -> new ArrayList<>()).add(lock));
		}
		List<StoredLock> held = new ArrayList<>();
		for (List<StoredLock> locks : byKey.values()) {
			StoredLock lock = this.quorum.holder(locks, unknown);
			if (lock != null) {
				held.add(lock);
			}
		}
		StoredLocks merged = StoredLocks.of(held, limit);
		return new StoredLocks(merged.locks(), merged.complete() && complete);
	}

	@Override
	public Optional<StoredLock> findStored(String storageKey) {
		Round<Optional<StoredLock>> round = this.quorum.askAll("look up a lock",
				(store) -> of(store).findStored(storageKey));
		List<StoredLock> locks = round.values().stream().flatMap(Optional::stream).toList();
		return Optional.ofNullable(this.quorum.holder(locks, round.unknown()));
	}

	@Override
	public boolean forceRelease(String storageKey, long token) {
		return this.quorum.released("force a release",
				this.quorum.ask((store) -> of(store).forceRelease(storageKey, token)));
	}

	/**
	 * A node that hangs is waited for half as long as for a command: with the lock that
	 * follows, a check of the health then ends in time.
	 */
	@Override
	public StoreFacts diagnose() {
		Round<StoreFacts> round = this.quorum.ask((store) -> of(store).diagnose(), this.quorum.timeoutNanos() / 2);
		List<String> warnings = new ArrayList<>();
		this.quorum.silent(round).forEach((node) -> warnings.add("Does not answer: " + node));
		for (Round.Answer<StoreFacts> answer : round.answers()) {
			String name = this.quorum.nodes().get(answer.node()).store().describe();
			StoreFacts facts = answer.value();
			if (facts != null) {
				facts.warnings().forEach((warning) -> warnings.add(name + ": " + warning));
			}
		}
		for (QuorumNode node : this.quorum.nodes()) {
			QuorumNodeStatus status = node.status();
			if (!status.voting()) {
				warnings.add(status.name() + " does not vote yet, because it may have forgotten votes");
			}
		}
		String servers = String.join(", ",
				round.values().stream().map(StoreFacts::server).distinct().sorted().toList());
		int count = this.quorum.nodes().size();
		return new StoreFacts("%d of %d nodes answer%s".formatted(count - round.unknown(), count,
				servers.isEmpty() ? "" : " (" + servers + ")"), null, warnings);
	}

}
