package io.dlock.torture.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.dlock.test.RedisServer;

/**
 * The Redis processes of a store, with an administrator for each.
 */
public final class RedisProcesses implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final String SENTINEL = "sentinel";

	private final List<RedisServer> servers = new ArrayList<>();

	private final List<RedisAdmin> admins = new ArrayList<>();

	RedisServer add(RedisServer server) {
		this.servers.add(server);
		this.admins.add(new RedisAdmin(server.host(), server.port(), TIMEOUT));
		return server;
	}

	List<ServerNode> nodes() {
		List<ServerNode> nodes = new ArrayList<>();
		for (RedisServer server : this.servers) {
			nodes.add(ServerNode.of("redis-" + nodes.size(), server));
		}
		return nodes;
	}

	/**
	 * The administrator of a process.
	 * @param node its index
	 * @return the one that is always connected
	 */
	public RedisAdmin admin(int node) {
		return this.admins.get(node);
	}

	/**
	 * Another administrator, for a command that takes long.
	 * @param node the index of the process
	 * @return one with a connection of its own
	 */
	public RedisAdmin anotherAdmin(int node) {
		RedisServer server = this.servers.get(node);
		return new RedisAdmin(server.host(), server.port(), Duration.ofMinutes(1));
	}

	/**
	 * The keys of locks, the fences, the connections of clients, and the channels.
	 */
	Map<String, Long> figures() {
		return figures(this.admins);
	}

	/**
	 * The same, of some processes.
	 */
	static Map<String, Long> figures(List<RedisAdmin> admins) {
		Map<String, Long> figures = new TreeMap<>();
		try {
			for (RedisAdmin admin : admins) {
				add(figures, admin);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return figures;
	}

	private static void add(Map<String, Long> figures, RedisAdmin admin) throws IOException {
		// the notes of the quarantine are there for good, one for each bucket
		List<String> keys = admin.texts("KEYS", "*").stream().filter((key) -> !key.endsWith(":era")).toList();
		long fences = keys.stream()
			.filter((key) -> key.endsWith(":fence") || key.startsWith("redisson_lock_token:"))
			.count();
		long connections = connections(admin, "normal") + connections(admin, "pubsub");
		figures.merge("fences", fences, Long::sum);
		figures.merge("locks", keys.size() - fences, Long::sum);
		// ours is one of them
		figures.merge("connections", connections - 1, Long::sum);
		long channels = admin.texts("PUBSUB", "CHANNELS").stream().filter((name) -> !name.contains(SENTINEL)).count();
		figures.merge("channels", channels, Long::sum);
	}

	List<String> details() {
		List<String> details = new ArrayList<>();
		try {
			for (RedisAdmin admin : this.admins) {
				String node = "node-" + this.admins.indexOf(admin) + " ";
				details.add(node + admin.text("INFO", "replication").lines().skip(1).findFirst().orElse("")
						+ ", fences " + admin.texts("KEYS", "*:fence").size());
				admin.texts("PUBSUB", "CHANNELS").forEach((channel) -> details.add(node + "channel " + channel));
				admin.text("CLIENT", "LIST").lines().forEach((client) -> details.add(node + client));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return details;
	}

	/**
	 * A Sentinel is no client.
	 */
	private static long connections(RedisAdmin admin, String type) throws IOException {
		return admin.text("CLIENT", "LIST", "TYPE", type)
			.lines()
			.filter((line) -> !line.contains("name=" + SENTINEL))
			.count();
	}

	@Override
	public void close() {
		this.admins.forEach(RedisAdmin::close);
		this.servers.forEach(RedisServer::close);
	}

}
