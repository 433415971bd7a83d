package io.dlock.torture.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

/**
 * A master, a replica and three Sentinels. The replica lags behind the master, as
 * replicas do, so a failover may lose what was acknowledged. If that must not happen, the
 * Sentinels are so patient that they never replace the master.
 * <p>
 * Master and replica announce the port of a proxy, so that the network between them and
 * all others, the Sentinels included, can be broken.
 */
public final class RedisSentinelStore extends ReplicatedRedis {

	private static final String MASTER = "mymaster";

	/** Longer than any fault lasts. */
	private static final Duration NEVER = Duration.ofMinutes(10);

	private static final Duration SOON = Duration.ofSeconds(3);

	/** Longer than a Sentinel tries. */
	private static final Duration SWITCH_OVER = Duration.ofSeconds(15);

	private final List<RedisServer> sentinels = new ArrayList<>();

	private RedisSentinelStore(Mode mode) {
		super(StoreType.REDIS_SENTINEL, mode);
		for (int i = 0; i < 2; i++) {
			startNode(mode,
					(port, entrance) -> Stream
						.concat(mode.withReplica().stream(), Stream.of("--replica-announce-ip", "127.0.0.1",
								"--replica-announce-port", Integer.toString(entrance)))
						.toList());
		}
	}

	static RedisSentinelStore start(Mode mode) {
		RedisSentinelStore store = new RedisSentinelStore(mode);
		String master = Integer.toString(store.entrance(0));
		for (int i = 0; i < 3; i++) {
			store.sentinels.add(RedisServer.startSentinel(store.configuration(master)));
		}
		try {
			store.processes().admin(1).call("REPLICAOF", "127.0.0.1", master);
			store.awaitReplicas();
			store.awaitReady();
		}
		catch (IOException ex) {
			store.close();
			throw new IllegalStateException(ex);
		}
		return store;
	}

	private List<String> configuration(String master) {
		return List.of("sentinel monitor " + MASTER + " 127.0.0.1 " + master + " 2",
				"sentinel down-after-milliseconds " + MASTER + " " + (failsOver() ? SOON : NEVER).toMillis(),
				"sentinel failover-timeout " + MASTER + " 5000");
	}

	/**
	 * A replica that never becomes master serves no client, so there is no point in
	 * breaking it.
	 */
	@Override
	public List<ServerNode> nodes() {
		return failsOver() ? super.nodes() : super.nodes().subList(0, 1);
	}

	@Override
	public List<TcpProxy> links() {
		return super.links().stream().limit(1).toList();
	}

	/**
	 * Ask the Sentinels for the master.
	 * @param target any
	 * @return its index
	 * @throws IOException if they do not agree
	 */
	@Override
	public int master(int target) throws IOException {
		return master();
	}

	private int master() throws IOException {
		List<Integer> ports = new ArrayList<>();
		for (RedisServer sentinel : this.sentinels) {
			try (RedisAdmin admin = admin(sentinel)) {
				ports.add(Integer.valueOf(admin.texts("SENTINEL", "get-master-addr-by-name", MASTER).get(1)));
			}
		}
		for (int i = 0; i < processes().nodes().size(); i++) {
			int port = entrance(i);
			if (ports.stream().allMatch((other) -> other == port)) {
				return i;
			}
		}
		throw new IOException("No agreement on the master: " + ports);
	}

	@Override
	int replica(int master) {
		return 1 - master;
	}

	@Override
	public void awaitFailover(int master) throws IOException {
		await(() -> master() != master, "There is no failover");
	}

	/**
	 * A Sentinel takes no replica for good that it has not asked for a while, and may
	 * give up a switch-over that it has begun. It is asked again only then: right after
	 * the switch-over, it would lead back.
	 */
	@Override
	public void switchOver(int master) throws IOException {
		await(() -> {
			if (master() != master) {
				return true;
			}
			try (RedisAdmin admin = admin(this.sentinels.get(0))) {
				admin.text("SENTINEL", "FAILOVER", MASTER);
			}
			return holdsWithin(SWITCH_OVER, () -> isReplaced(master));
		}, "There is no switch-over");
	}

	private boolean isReplaced(int master) {
		try {
			return master() != master;
		}
		catch (IOException ex) {
			return false;
		}
	}

	@Override
	public void awaitReplicas() throws IOException {
		await(() -> isReplicating(master()), "There is no replica");
	}

	/**
	 * Sentinels look at the replicas every ten seconds.
	 */
	@Override
	public void awaitReady() throws IOException {
		await(this::sentinelsReady, "The Sentinels do not know the replica");
	}

	private static RedisAdmin admin(RedisServer sentinel) {
		return new RedisAdmin(sentinel.host(), sentinel.port(), Duration.ofSeconds(2));
	}

	/**
	 * A Sentinel that has not yet seen that a former master is a replica makes it one,
	 * even if another has promoted it again meanwhile.
	 */
	private boolean sentinelsReady() throws IOException {
		for (RedisServer sentinel : this.sentinels) {
			try (RedisAdmin admin = admin(sentinel)) {
				if (!admin.text("INFO", "sentinel").contains("status=ok")
						|| !admin.text("INFO", "sentinel").contains("slaves=1,sentinels=3")
						|| !admin.text("SENTINEL", "SLAVES", MASTER).contains("role-reported, slave")) {
					return false;
				}
			}
		}
		return true;
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

}
