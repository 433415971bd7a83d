package io.dlock.store.quorum;

import java.util.List;
import java.util.stream.Stream;

import io.dlock.store.memory.MemoryLockStore;

/**
 * The contract on five nodes in memory.
 */
class QuorumLockStoreContractTests extends AbstractQuorumContract<MemoryLockStore> {

	private final List<MemoryLockStore> nodes = Stream.generate(MemoryLockStore::new).limit(5).toList();

	@Override
	List<MemoryLockStore> createNodes() {
		return this.nodes;
	}

	@Override
	protected void loseEverything() {
		this.nodes.forEach(MemoryLockStore::clear);
	}

}
