package io.dlock.torture.fault;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.dlock.torture.server.ReplicatedRedis;
import io.dlock.torture.server.ServerNode;

/**
 * Failovers, which lose what the replica did not have yet.
 */
final class FailoverFaults {

	/** For the plan: the time until the next failover is possible. */
	private static final Duration RECOVERY = Duration.ofSeconds(20);

	private FailoverFaults() {
	}

	static List<FaultType> losing(Duration lease) {
		return Stream
			.of(FaultType.losing("F16", "failover", Scope.NODE, FailoverFaults::failover),
					FaultType.losing("F16", "failover-loses-tail", Scope.NODE, FailoverFaults::loseTail)
						.lasting(Range.times(lease, 0.2, 0.8)),
					FaultType.losing("F16", "switch-over", Scope.NODE, FailoverFaults::switchOver),
					FaultType.losing("F17", "two-masters", Scope.NODE, FailoverFaults::twoMasters))
			.map((fault) -> fault.recoveringWithin(RECOVERY))
			.toList();
	}

	static FaultType lag(Duration lease) {
		return FaultType.safe("F37", "replica-lags", Scope.NODE, FailoverFaults::lag)
			.lasting(Range.times(lease, 0.5, 5));
	}

	private static void failover(Infliction fault) throws IOException {
		ReplicatedRedis store = fault.replicated();
		failover(store, store.master(fault.target()));
	}

	/**
	 * The replica is cut off from its master first, and neither is told: a killed process
	 * still delivers what the kernel has of it.
	 */
	private static void loseTail(Infliction fault) throws IOException, InterruptedException {
		ReplicatedRedis store = fault.replicated();
		int master = store.master(fault.target());
		store.holdReplicationBack(master);
		fault.hold();
		failover(store, master);
	}

	private static void failover(ReplicatedRedis store, int master) throws IOException {
		ServerNode node = store.nodes().get(master);
		node.kill();
		store.loseReplication(master);
		try {
			store.awaitFailover(master);
		}
		finally {
			node.restart();
		}
		store.awaitReplicas();
	}

	private static void switchOver(Infliction fault) throws IOException {
		ReplicatedRedis store = fault.replicated();
		int master = store.master(fault.target());
		store.switchOver(master);
		store.awaitFailover(master);
		store.awaitReplicas();
	}

	/**
	 * The master that was replaced while it stood still serves on until it is told.
	 */
	private static void twoMasters(Infliction fault) throws IOException {
		ReplicatedRedis store = fault.replicated();
		int master = store.master(fault.target());
		ServerNode node = store.nodes().get(master);
		node.pause();
		try {
			store.awaitFailover(master);
		}
		finally {
			node.resume();
		}
		store.awaitReplicas();
	}

	private static void lag(Infliction fault) throws IOException, InterruptedException {
		ReplicatedRedis store = fault.replicated();
		int master = store.master(fault.target());
		store.holdReplicationBack(master);
		fault.hold();
		store.deliverReplication(master);
		store.awaitReplicas();
	}

}
