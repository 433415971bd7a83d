package io.dlock.torture.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

/**
 * A Redis Cluster of three masters. Each announces the port of a proxy, so that the
 * network between clients and nodes can be broken, and that among the nodes is not.
 */
public final class RedisClusterStore implements RedisUnderTest {

	private static final int NODES = 3;

	private static final int SLOTS = 16_384;

	private static final int BUS = 10_000;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final RedisProcesses processes = new RedisProcesses();

	private final List<TcpProxy> links = new ArrayList<>();

	private RedisClusterStore() {
	}

	static RedisClusterStore start(Mode mode) {
		RedisClusterStore store = new RedisClusterStore();
		for (int i = 0; i < NODES; i++) {
			store.processes.add(RedisServer.start(mode.environment(), (port) -> store.arguments(mode, port)));
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

	private List<String> arguments(Mode mode, int port) {
		TcpProxy link = TcpProxy.to("127.0.0.1", port);
		this.links.add(link);
		List<String> arguments = new ArrayList<>(RedisStore.arguments(mode));
		arguments.addAll(List.of("--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--cluster-announce-ip",
				"127.0.0.1", "--cluster-announce-port", Integer.toString(link.port()), "--cluster-announce-bus-port",
				Integer.toString(port + BUS)));
		return arguments;
	}

	private void form() throws IOException {
		for (int i = 0; i < NODES; i++) {
			int from = SLOTS * i / NODES;
			int until = SLOTS * (i + 1) / NODES;
			Stream<String> slots = IntStream.range(from, until).mapToObj(Integer::toString);
			this.processes.admin(i).call(Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), slots).toArray(String[]::new));
			int port = nodes().get(i).port();
			this.processes.admin(0)
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
		RedisAdmin admin = this.processes.admin(node);
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
	public StoreType type() {
		return StoreType.REDIS_CLUSTER;
	}

	@Override
	public List<ServerNode> nodes() {
		List<ServerNode> nodes = new ArrayList<>();
		for (ServerNode node : this.processes.nodes()) {
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

	@Override
	public List<TcpProxy> links() {
		return List.copyOf(this.links);
	}

	@Override
	public RedisProcesses processes() {
		return this.processes;
	}

	@Override
	public List<String> clientOptions(int port) {
		return List.of("--store=" + type().label(), "--username=" + RedisStore.USER, "--password=" + RedisStore.USER,
				"--nodes=" + this.links.stream()
					.map((link) -> "127.0.0.1:" + link.port())
					.collect(Collectors.joining(",")));
	}

	@Override
	public Map<String, Long> figures() {
		return this.processes.figures();
	}

	/**
	 * The name of a node among the nodes.
	 * @param node its index
	 * @return the id
	 * @throws IOException if it does not answer
	 */
	public String id(int node) throws IOException {
		return this.processes.admin(node).text("CLUSTER", "MYID");
	}

	@Override
	public void close() {
		this.processes.close();
		this.links.forEach(TcpProxy::close);
	}

}
