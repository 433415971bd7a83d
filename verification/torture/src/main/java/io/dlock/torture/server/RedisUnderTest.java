package io.dlock.torture.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

/**
 * A store of one Redis, or of several, each behind a proxy.
 */
public abstract class RedisUnderTest implements StoreUnderTest {

	/**
	 * The user of the clients whose credentials can be changed, and the password. There
	 * is the default user besides, without a password.
	 */
	static final String USER = "torture";

	private final StoreType type;

	private final RedisProcesses processes = new RedisProcesses();

	private final List<TcpProxy> links = new ArrayList<>();

	private final List<Integer> entrances = new ArrayList<>();

	RedisUnderTest(StoreType type) {
		this.type = type;
	}

	/**
	 * The log of a long campaign is rewritten before it fills the disk by itself.
	 */
	static List<String> arguments(boolean durable) {
		List<String> arguments = new ArrayList<>(List.of("--appendonly", durable ? "yes" : "no", "--appendfsync",
				"always", "--lua-time-limit", "50", "--maxmemory-policy", "noeviction", "--auto-aof-rewrite-percentage",
				"10", "--auto-aof-rewrite-min-size", "32mb", "--user", USER, "on", ">" + USER, "~*", "&*", "+@all"));
		if (RedisServer.majorVersion() >= 7) {
			// DEBUG SLEEP is a fault
			arguments.addAll(List.of("--enable-debug-command", "local"));
		}
		return arguments;
	}

	/**
	 * Start a process, behind a proxy if its network can be broken.
	 * @param mode how
	 * @param more makes further arguments of its port and that of its entrance
	 */
	void startNode(Mode mode, BiFunction<Integer, Integer, List<String>> more) {
		this.processes.add(RedisServer.start(mode.environment(), (port) -> {
			int entrance = mode.breakable() ? startLink(port) : port;
			this.entrances.add(entrance);
			return Stream.concat(arguments(mode.durable()).stream(), more.apply(port, entrance).stream()).toList();
		}));
	}

	private int startLink(int port) {
		TcpProxy link = TcpProxy.to("127.0.0.1", port);
		this.links.add(link);
		return link.port();
	}

	@Override
	public StoreType type() {
		return this.type;
	}

	@Override
	public List<ServerNode> nodes() {
		return this.processes.nodes();
	}

	@Override
	public List<TcpProxy> links() {
		return List.copyOf(this.links);
	}

	TcpProxy link(int node) {
		return this.links.get(node);
	}

	/**
	 * The port that clients and other processes connect to.
	 */
	int entrance(int node) {
		return this.entrances.get(node);
	}

	/**
	 * The processes that keep data.
	 * @return the processes
	 */
	public RedisProcesses processes() {
		return this.processes;
	}

	/**
	 * The master to inflict a fault on.
	 * @param target the index of a process
	 * @return that of the process, or of the master of the same data
	 * @throws IOException if none is known
	 */
	public int master(int target) throws IOException {
		return target;
	}

	@Override
	public List<String> clientOptions(int port) {
		return List.of("--store=" + this.type.label(), "--username=" + USER, "--password=" + USER, "--nodes="
				+ this.entrances.stream().map((entrance) -> "127.0.0.1:" + entrance).collect(Collectors.joining(",")));
	}

	@Override
	public Map<String, Long> figures() {
		return this.processes.figures();
	}

	@Override
	public List<String> details() {
		return this.processes.details();
	}

	@Override
	public void close() {
		this.processes.close();
		this.links.forEach(TcpProxy::close);
	}

}
