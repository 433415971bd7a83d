package io.dlock.torture.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A Redis Cluster of three masters. Each announces the port of a proxy, so that the
 * network between clients and nodes can be broken, and that among the nodes is not.
 */
public final class RedisClusterStore extends RedisUnderTest {

	private static final int NODES = 3;

	private static final int SLOTS = 16_384;

	private static final int BUS = 10_000;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private RedisClusterStore() {
		super(StoreType.REDIS_CLUSTER);
	}

	static RedisClusterStore start(Mode mode) {
		RedisClusterStore store = new RedisClusterStore();
		for (int i = 0; i < NODES; i++) {
			store.startBehindProxy(mode,
					(port, link) -> List.of("--cluster-enabled", "yes", "--cluster-node-timeout", "2000",
							"--cluster-announce-ip", "127.0.0.1", "--cluster-announce-port", Integer.toString(link),
							"--cluster-announce-bus-port", Integer.toString(port + BUS)));
		}
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
		for (int i = 0; i < NODES; i++) {
			int from = SLOTS * i / NODES;
			int until = SLOTS * (i + 1) / NODES;
			Stream<String> slots = IntStream.range(from, until).mapToObj(Integer::toString);
			processes().admin(i).call(Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), slots).toArray(String[]::new));
			int port = nodes().get(i).port();
			processes().admin(0)
				.call("CLUSTER", "MEET", "127.0.0.1", Integer.toString(port), Integer.toString(port + BUS));
		}
		for (int i = 0; i < NODES; i++) {
			awaitWritable(i);
		}
	}

	/**
	 * A node that was away takes no commands for two seconds after its return.
	 */
	private void awaitWritable(int node) throws IOException {
		RedisAdmin admin = processes().admin(node);
		long end = System.nanoTime() + PATIENCE.toNanos();
		while (!admin.text("CLUSTER", "INFO").contains("cluster_state:ok")
				|| admin.text("CLUSTER", "NODES").lines().count() < NODES) {
			if (System.nanoTime() > end) {
				throw new IOException("No cluster: " + admin.text("CLUSTER", "NODES"));
			}
			LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
		}
	}

	@Override
	public List<ServerNode> nodes() {
		List<ServerNode> nodes = new ArrayList<>();
		for (ServerNode node : processes().nodes()) {
			int index = nodes.size();
			nodes.add(node.restartingUntil(() -> {
				try {
					awaitWritable(index);
				}
				catch (IOException ex) {
					throw new UncheckedIOException(ex);
				}
			}));
		}
		return nodes;
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
