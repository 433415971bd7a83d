package io.dlock.store.quorum;

import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.dlock.store.LockStore;
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

	/**
	 * A store that is closed clears nodes in memory.
	 */
	@Override
	protected @Nullable LockStore createStoreOfAnotherProcess() {
		return null;
	}

	@Override
	protected void loseEverything() {
		this.nodes.forEach(MemoryLockStore::clear);
	}

}
