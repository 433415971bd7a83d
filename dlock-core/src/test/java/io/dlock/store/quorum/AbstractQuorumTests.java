package io.dlock.store.quorum;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.quorum.FaultyNode.Mode;

/**
 * Five nodes that fail as the test says. All run on the thread of the test, and time
 * passes when the test says so.
 */
abstract class AbstractQuorumTests {

	static final Duration LEASE = Duration.ofSeconds(10);

	static final QuorumSettings SETTINGS = new QuorumSettings(Duration.ofMillis(500), 0);

	/**
	 * A younger vote may be that of a candidate.
	 */
	static final Duration YOUNG = SETTINGS.commandTimeout().multipliedBy(2);

	final AtomicLong time = new AtomicLong();

	final List<FaultyNode> nodes = FaultyNode.list(5, this.time::get, Duration.ZERO);

	final QuorumLockStore store = store(SETTINGS);

	final QuorumLockStore store(QuorumSettings settings) {
		return store(this.nodes, settings);
	}

	final QuorumLockStore store(List<? extends LockStore> nodes, QuorumSettings settings) {
		return new QuorumLockStore(nodes, settings, this.time::get, List.of(), (node) -> Runnable::run);
	}

	static AcquireCommand command(String owner) {
		return new AcquireCommand("key", owner, LEASE, "holder " + owner, "");
	}

	static AcquireResult acquire(QuorumLockStore store, String owner) {
		return store.acquire(command(owner));
	}

	static RenewResult renew(QuorumLockStore store, String owner) {
		return store.renew(List.of(new RenewCommand("key", owner, LEASE))).get(0);
	}

	final void set(Mode mode, int... numbers) {
		for (int number : numbers) {
			this.nodes.get(number).set(mode);
		}
	}

	final void pass(Duration duration) {
		this.time.addAndGet(duration.toNanos());
	}

}
