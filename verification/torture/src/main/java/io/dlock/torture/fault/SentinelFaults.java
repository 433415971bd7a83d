package io.dlock.torture.fault;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

import io.dlock.torture.server.RedisSentinelStore;
import io.dlock.torture.server.ServerNode;

/**
 * Failovers, which lose what the replica did not have yet.
 */
final class SentinelFaults {

	private SentinelFaults() {
	}

	static List<FaultType> losing(Duration lease) {
		return List.of(FaultType.losing("F16", "failover", Scope.STORE, SentinelFaults::failover),
				FaultType.losing("F16", "failover-loses-tail", Scope.STORE, SentinelFaults::loseTail)
					.lasting(Range.times(lease, 0.2, 0.8)),
				FaultType.losing("F17", "two-masters", Scope.STORE, SentinelFaults::twoMasters));
	}

	private static void failover(Infliction fault) throws IOException {
		RedisSentinelStore store = fault.sentinel();
		failover(store, store.master());
	}

	/**
	 * The replica is cut off from its master first: a killed process still delivers what
	 * the kernel has of it.
	 */
	private static void loseTail(Infliction fault) throws IOException, InterruptedException {
		RedisSentinelStore store = fault.sentinel();
		int master = store.master();
		store.processes().admin(1 - master).call("REPLICAOF", "127.0.0.1", "1");
		fault.hold();
		failover(store, master);
	}

	private static void failover(RedisSentinelStore store, int master) throws IOException {
		ServerNode node = store.nodes().get(master);
		node.kill();
		try {
			store.awaitFailover(master);
		}
		finally {
			node.restart();
		}
		store.awaitReplica();
	}

	/**
	 * The master that was replaced while it stood still serves on until it is told.
	 */
	private static void twoMasters(Infliction fault) throws IOException {
		RedisSentinelStore store = fault.sentinel();
		int master = store.master();
		ServerNode node = store.nodes().get(master);
		node.pause();
		try {
			store.awaitFailover(master);
		}
		finally {
			node.resume();
		}
		store.awaitReplica();
	}

}
