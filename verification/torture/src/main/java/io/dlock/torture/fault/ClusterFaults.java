package io.dlock.torture.fault;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.dlock.torture.server.RedisAdmin;
import io.dlock.torture.server.RedisClusterStore;

/**
 * Faults of a Redis Cluster while it is in use.
 */
final class ClusterFaults {

	/** Buckets that no call uses are looked at so often in a quarantine. */
	private static final int VISITS_IN_QUARANTINE = 10;

	private ClusterFaults() {
	}

	static FaultType moveSlots(Duration lease) {
		return FaultType.safe("F21", "move-slots", Scope.NODE, ClusterFaults::moveSlots)
			.lasting(Range.times(lease, 0.5, 2));
	}

	/**
	 * Move the slots of all keys that the node has to the next node, and let clients meet
	 * each step of it.
	 */
	private static void moveSlots(Infliction fault) throws IOException, InterruptedException {
		RedisClusterStore cluster = fault.cluster();
		List<Integer> masters = cluster.masters();
		int from = cluster.master(fault.target());
		int to = cluster.master(fault.target() + 1);
		RedisAdmin source = cluster.processes().admin(from);
		List<String> slots = source.texts("KEYS", "*").stream().map((key) -> slot(source, key)).distinct().toList();
		Duration step = Duration.ofMillis(fault.millis()).dividedBy(3L * Math.max(1, slots.size()));
		for (String slot : slots) {
			cluster.processes().admin(to).call("CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id(from));
			source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.id(to));
			fault.pause(step);
			moveKeys(source, slot, cluster.nodes().get(to).port());
			fault.pause(step);
			// what was written meanwhile
			moveKeys(source, slot, cluster.nodes().get(to).port());
			cluster.processes().admin(to).call("CLUSTER", "SETSLOT", slot, "NODE", cluster.id(to));
			for (int node : masters) {
				cluster.processes().admin(node).call("CLUSTER", "SETSLOT", slot, "NODE", cluster.id(to));
			}
			fault.pause(step);
		}
		TimeUnit.NANOSECONDS.sleep(fault.bed().quarantine().dividedBy(VISITS_IN_QUARANTINE).toNanos());
	}

	private static void moveKeys(RedisAdmin source, String slot, int port) throws IOException {
		for (String key : source.texts("CLUSTER", "GETKEYSINSLOT", slot, "100")) {
			source.call("MIGRATE", "127.0.0.1", Integer.toString(port), key, "0", "5000");
		}
	}

	private static String slot(RedisAdmin source, String key) {
		try {
			return source.text("CLUSTER", "KEYSLOT", key);
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
