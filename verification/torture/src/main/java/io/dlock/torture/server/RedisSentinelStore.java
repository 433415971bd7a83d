package io.dlock.torture.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

/**
 * A master, a replica and three Sentinels. The replica lags behind the master, as
 * replicas do, so a failover may lose what was acknowledged. If that must not happen, the
 * Sentinels are so patient that they never replace the master.
 * <p>
 * Master and replica announce the port of a proxy, so that the network between them and
 * everybody else, the Sentinels included, can be broken.
 */
public final class RedisSentinelStore extends RedisUnderTest {

	private static final String MASTER = "mymaster";

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final Duration INTERVAL = Duration.ofMillis(50);

	/** Longer than any fault lasts. */
	private static final Duration NEVER = Duration.ofMinutes(10);

	private static final Duration SOON = Duration.ofSeconds(1);

	private final List<RedisServer> sentinels = new ArrayList<>();

	private final boolean failsOver;

	private RedisSentinelStore(boolean failsOver) {
		super(StoreType.REDIS_SENTINEL);
		this.failsOver = failsOver;
	}

	static RedisSentinelStore start(Mode mode) {
		RedisSentinelStore store = new RedisSentinelStore(!mode.durable());
		for (int i = 0; i < 2; i++) {
			store.startBehindProxy(mode, (port, link) -> List.of("--replica-announce-ip", "127.0.0.1",
					"--replica-announce-port", Integer.toString(link)));
		}
		String master = Integer.toString(store.link(0).port());
		for (int i = 0; i < 3; i++) {
			store.sentinels.add(RedisServer.startSentinel(store.configuration(master)));
		}
		try {
			store.processes().admin(1).call("REPLICAOF", "127.0.0.1", master);
			store.awaitReplica();
		}
		catch (IOException ex) {
			store.close();
			throw new IllegalStateException(ex);
		}
		return store;
	}

	private List<String> configuration(String master) {
		return List.of("sentinel monitor " + MASTER + " 127.0.0.1 " + master + " 2",
				"sentinel down-after-milliseconds " + MASTER + " " + (this.failsOver ? SOON : NEVER).toMillis(),
				"sentinel failover-timeout " + MASTER + " 5000");
	}

	/**
	 * A replica that never becomes master serves no client, so there is no point in
	 * breaking it.
	 */
	@Override
	public List<ServerNode> nodes() {
		return this.failsOver ? super.nodes() : super.nodes().subList(0, 1);
	}

	/**
	 * Only as long as a broken link is no reason to replace the master.
	 */
	@Override
	public List<TcpProxy> links() {
		return this.failsOver ? List.of() : List.of(link(0));
	}

	/**
	 * Ask the Sentinels for the master.
	 * @return its index
	 * @throws IOException if they do not agree
	 */
	public int master() throws IOException {
		List<Integer> ports = new ArrayList<>();
		for (RedisServer sentinel : this.sentinels) {
			try (RedisAdmin admin = new RedisAdmin(sentinel.host(), sentinel.port(), Duration.ofSeconds(2))) {
				ports.add(Integer.valueOf(admin.texts("SENTINEL", "get-master-addr-by-name", MASTER).get(1)));
			}
		}
		for (int i = 0; i < processes().nodes().size(); i++) {
			int port = link(i).port();
			if (ports.stream().allMatch((other) -> other == port)) {
				return i;
			}
		}
		throw new IOException("No agreement on the master: " + ports);
	}

	/**
	 * Wait until the Sentinels have another master.
	 * @param before the index of the one before
	 * @throws IOException if they do not in time
	 */
	public void awaitFailover(int before) throws IOException {
		await(() -> master() != before, "There is no failover");
	}

	/**
	 * Wait until the replica has what its master has, and every Sentinel knows it.
	 * @throws IOException if it does not come to that in time
	 */
	public void awaitReplica() throws IOException {
		await(() -> {
			String replica = processes().admin(1 - master()).text("INFO", "replication");
			return replica.contains("role:slave") && replica.contains("master_link_status:up") && sentinelsReady();
		}, "There is no replica");
	}

	private boolean sentinelsReady() throws IOException {
		for (RedisServer sentinel : this.sentinels) {
			try (RedisAdmin admin = new RedisAdmin(sentinel.host(), sentinel.port(), Duration.ofSeconds(2))) {
				if (!admin.text("INFO", "sentinel").contains("status=ok")
						|| !admin.text("INFO", "sentinel").contains("slaves=1,sentinels=3")) {
					return false;
				}
			}
		}
		return true;
	}

	private static void await(Condition condition, String failure) throws IOException {
		long end = System.nanoTime() + PATIENCE.toNanos();
		IOException reason = new IOException(failure);
		while (System.nanoTime() < end) {
			try {
				if (condition.holds()) {
					return;
				}
			}
			catch (IOException ex) {
				reason = ex;
			}
			LockSupport.parkNanos(INTERVAL.toNanos());
		}
		throw new IOException(failure, reason);
	}

	@Override
	public List<String> clientOptions(int port) {
		return List.of("--store=" + type().label(), "--database=" + MASTER,
				"--nodes=" + this.sentinels.stream()
					.map((sentinel) -> sentinel.host() + ":" + sentinel.port())
					.collect(Collectors.joining(",")));
	}

	@Override
	public Map<String, Long> figures() {
		try {
			return RedisProcesses.figures(List.of(processes().admin(master())));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		this.sentinels.forEach(RedisServer::close);
		super.close();
	}

	/**
	 * Something to wait for.
	 */
	@FunctionalInterface
	private interface Condition {

		boolean holds() throws IOException;

	}

}
