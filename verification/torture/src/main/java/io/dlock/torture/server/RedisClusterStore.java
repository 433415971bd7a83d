package io.dlock.torture.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A Redis Cluster of three masters, and of a replica for each if what was acknowledged
 * may be lost. Each process announces the port of a proxy, so that the network between
 * clients and nodes, and to the replicas, can be broken, and the bus among the nodes
 * cannot.
 */
public final class RedisClusterStore extends ReplicatedRedis {

	private static final Duration SWITCH_OVER = Duration.ofSeconds(6);

	private static final int MASTERS = 3;

	private static final int SLOTS = 16_384;

	private static final int BUS = 10_000;

	private RedisClusterStore(Mode mode) {
		super(StoreType.REDIS_CLUSTER, mode);
		for (int i = 0; i < (failsOver() ? 2 * MASTERS : MASTERS); i++) {
			startNode(mode, (port, entrance) -> Stream
				.concat(mode.withReplica().stream(), Stream.of("--cluster-enabled", "yes", "--cluster-node-timeout",
						failsOver() ? "4000" : "2000", "--cluster-announce-ip", "127.0.0.1", "--cluster-announce-port",
						Integer.toString(entrance), "--cluster-announce-bus-port", Integer.toString(port + BUS)))
				.toList());
		}
	}

	static RedisClusterStore start(Mode mode) {
		RedisClusterStore store = new RedisClusterStore(mode);
		try {
			store.form();
		}
		catch (IOException ex) {
			store.close();
			throw new IllegalStateException(ex);
		}
		return store;
	}

	private void form() throws IOException {
		for (int i = 0; i < size(); i++) {
			int port = processes().nodes().get(i).port();
			processes().admin(0)
				.call("CLUSTER", "MEET", "127.0.0.1", Integer.toString(port), Integer.toString(port + BUS));
		}
		for (int i = 0; i < MASTERS; i++) {
			int from = SLOTS * i / MASTERS;
			int until = SLOTS * (i + 1) / MASTERS;
			Stream<String> slots = IntStream.range(from, until).mapToObj(Integer::toString);
			processes().admin(i).call(Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), slots).toArray(String[]::new));
		}
		await(this::isWritable, "There is no cluster");
		for (int i = MASTERS; i < size(); i++) {
			processes().admin(i).call("CLUSTER", "REPLICATE", id(i - MASTERS));
		}
		awaitReplicas();
	}

	private int size() {
		return processes().nodes().size();
	}

	/**
	 * A node that was away takes no commands for two seconds after its return.
	 */
	private boolean isWritable() throws IOException {
		for (int i = 0; i < size(); i++) {
			RedisAdmin admin = processes().admin(i);
			if (!admin.text("CLUSTER", "INFO").contains("cluster_state:ok")
					|| admin.text("CLUSTER", "NODES").lines().count() < size()) {
				return false;
			}
		}
		return true;
	}

	@Override
	public List<ServerNode> nodes() {
		return super.nodes().stream().map((node) -> node.restartingUntil(() -> {
			try {
				awaitReplicas();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		})).toList();
	}

	/**
	 * The masters.
	 * @return their indexes
	 * @throws IOException if one does not answer
	 */
	public List<Integer> masters() throws IOException {
		Integer[] masters = new Integer[MASTERS];
		for (int i = 0; i < MASTERS; i++) {
			masters[i] = master(i);
		}
		return List.of(masters);
	}

	@Override
	public int master(int target) throws IOException {
		int shard = target % MASTERS;
		return isMaster(shard) ? shard : replica(shard);
	}

	private boolean isMaster(int node) throws IOException {
		return processes().admin(node).text("INFO", "replication").contains("role:master");
	}

	@Override
	int replica(int master) {
		return (master + MASTERS) % (2 * MASTERS);
	}

	@Override
	public void awaitFailover(int master) throws IOException {
		await(() -> isMaster(replica(master)), "There is no failover");
	}

	/**
	 * A replica gives up a switch-over after five seconds, and each command begins anew.
	 */
	@Override
	public void switchOver(int master) throws IOException {
		await(() -> {
			if (isMaster(replica(master))) {
				return true;
			}
			processes().admin(replica(master)).call("CLUSTER", "FAILOVER");
			return holdsWithin(SWITCH_OVER, () -> isMaster(replica(master)));
		}, "There is no switch-over");
	}

	@Override
	public void awaitReplicas() throws IOException {
		await(() -> {
			boolean replicating = true;
			for (int i = 0; i < MASTERS && failsOver(); i++) {
				replicating &= isReplicating(master(i));
			}
			return replicating && isWritable();
		}, "There is no cluster");
	}

	/**
	 * A replica has the keys of its master.
	 */
	@Override
	public Map<String, Long> figures() {
		Map<String, Long> figures = super.figures();
		if (failsOver()) {
			figures.computeIfPresent("locks", (name, locks) -> (locks + 1) / 2);
			figures.computeIfPresent("fences", (name, fences) -> fences / 2);
		}
		return figures;
	}

	/**
	 * A process keeps a connection to each node that was a master once, and one for what
	 * any node can answer: those of the application, those of the locks, and one for
	 * messages.
	 */
	@Override
	public int idleConnections() {
		return failsOver() ? 2 * (size() + 1) + 1 : 0;
	}

	/**
	 * The name of a node among the nodes.
	 * @param node its index
	 * @return the id
	 * @throws IOException if it does not answer
	 */
	public String id(int node) throws IOException {
		return processes().admin(node).text("CLUSTER", "MYID");
	}

}
