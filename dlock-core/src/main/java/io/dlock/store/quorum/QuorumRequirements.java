package io.dlock.store.quorum;

import java.util.List;

import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.QuorumCapable;
import io.dlock.store.StorageKey;

/**
 * The conditions under which a quorum keeps its promises.
 */
final class QuorumRequirements {

	private static final int MIN_NODES = 3;

	private QuorumRequirements() {
	}

	static void check(List<? extends LockStore> nodes, QuorumSettings settings) {
		if (nodes.size() < MIN_NODES || nodes.size() % 2 == 0) {
			throw new IllegalArgumentException(
					"'nodes' must be an odd number of servers, at least 3, but there are " + nodes.size());
		}
		if (settings.wrongClocks() > nodes.size() / 2) {
			throw new IllegalArgumentException("'wrongClocks' must be fewer than half of the %d nodes but is %d"
				.formatted(nodes.size(), settings.wrongClocks()));
		}
		if (nodes.stream().distinct().count() < nodes.size()) {
			throw new IllegalArgumentException("'nodes' must be different servers, but one of them occurs twice");
		}
		for (LockStore node : nodes) {
			if (!(node instanceof QuorumCapable)) {
				throw new IllegalArgumentException("Each node of a quorum must be QuorumCapable, but " + node.describe()
						+ " is not. Use Redis or memory");
			}
		}
	}

	static void check(AcquireCommand command) {
		if (LockStore.isMember(command.owner())) {
			throw new IllegalArgumentException(
					"'%s' cannot be shared: a quorum has exclusive locks only".formatted(StorageKey.of(command.key())));
		}
		if (command.mailbox() != null && command.mailbox().isOfRequest()) {
			throw new IllegalArgumentException(
					"'%s' cannot be fair: a quorum has no queue. Use a lock that is not fair, or another store"
						.formatted(StorageKey.of(command.key())));
		}
	}

}
