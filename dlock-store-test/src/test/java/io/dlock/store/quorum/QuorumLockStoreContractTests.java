package io.dlock.store.quorum;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.store.test.LockStoreContract;
import io.dlock.test.Patience;

/**
 * The contract on five nodes that never lose their data.
 */
class QuorumLockStoreContractTests extends LockStoreContract {

	private final List<MemoryLockStore> nodes = Stream.generate(MemoryLockStore::new).limit(5).toList();

	@Override
	protected LockStore createStore() {
		return new QuorumLockStore(this.nodes,
				QuorumSettings.defaults().withCommandTimeout(Patience.COMMAND).withLongestLease(Duration.ZERO));
	}

	@Override
	protected void loseEverything() {
		this.nodes.forEach(MemoryLockStore::clear);
	}

	@Override
	protected void setLastToken(long token) {
		this.nodes.forEach((node) -> {
			node.acquire(new AcquireCommand(key(), "token", Duration.ofSeconds(10), "", ""));
			node.raiseToken(key(), "token", token);
			node.release(key(), "token");
		});
	}

	@Override
	protected Set<Feature> features() {
		return EnumSet.of(Feature.INSPECTION);
	}

}
