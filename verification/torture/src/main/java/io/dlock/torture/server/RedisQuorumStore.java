package io.dlock.torture.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

/**
 * Five Redis servers that know nothing of each other and keep nothing on disk, each
 * behind a proxy.
 */
final class RedisQuorumStore implements RedisUnderTest {

	private static final int NODES = 5;

	private final RedisProcesses processes = new RedisProcesses();

	private final List<TcpProxy> links = new ArrayList<>();

	private RedisQuorumStore() {
	}

	static RedisQuorumStore start(Mode mode) {
		Mode forgetful = new Mode(false, mode.environment());
		RedisQuorumStore store = new RedisQuorumStore();
		for (int i = 0; i < NODES; i++) {
			RedisServer server = store.processes
				.add(RedisServer.start(mode.environment(), RedisStore.arguments(forgetful).toArray(String[]::new)));
			store.links.add(TcpProxy.to(server.host(), server.port()));
		}
		return store;
	}

	@Override
	public StoreType type() {
		return StoreType.REDIS_QUORUM;
	}

	@Override
	public List<ServerNode> nodes() {
		return this.processes.nodes();
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

	/**
	 * Each node has fences of its own, and a lock that is never released, whose age is
	 * that of its data.
	 */
	@Override
	public Map<String, Long> figures() {
		Map<String, Long> figures = this.processes.figures();
		figures.computeIfPresent("locks", (name, locks) -> Math.max(0, locks - NODES));
		figures.computeIfPresent("fences", (name, fences) -> fences / NODES);
		return figures;
	}

	@Override
	public void close() {
		this.processes.close();
		this.links.forEach(TcpProxy::close);
	}

}
