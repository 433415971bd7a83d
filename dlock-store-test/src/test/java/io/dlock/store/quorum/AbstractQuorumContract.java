package io.dlock.store.quorum;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.QuorumCapable;
import io.dlock.store.test.LockStoreContract;
import io.dlock.test.Patience;

/**
 * The contract on nodes that never lose their data.
 *
 * @param <S> the type of the nodes
 */
abstract class AbstractQuorumContract<S extends LockStore & QuorumCapable> extends LockStoreContract {

	private List<S> nodes = List.of();

	/**
	 * Create the nodes of a test.
	 */
	abstract List<S> createNodes();

	@Override
	protected LockStore createStore() {
		this.nodes = createNodes();
		return new QuorumLockStore(this.nodes, QuorumSettings.defaults().withCommandTimeout(Patience.COMMAND));
	}

	@Override
	protected @Nullable LockStore createStoreOfAnotherProcess() {
		return createStore();
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

	/**
	 * A lease that is over when the votes are counted is not granted.
	 */
	@Override
	protected Duration shortLease() {
		return Duration.ofSeconds(2);
	}

}
