package io.dlock.benchmarks.contender;

import java.time.Duration;
import java.util.List;

import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Redisson's lock of the same key on each of several servers, with its defaults.
 */
public final class RedissonMultiLockContender implements Contender {

	private final List<RedissonClient> clients;

	/**
	 * Connect to the servers.
	 * @param nodes the servers
	 * @param lease the lease of every lock
	 */
	public RedissonMultiLockContender(List<ServerAddress> nodes, Duration lease) {
		this.clients = nodes.stream().map((node) -> RedissonContender.connect(node, lease)).toList();
	}

	@Override
	public ContenderLock open(String key) {
		RLock[] locks = this.clients.stream().map((client) -> client.getLock("redisson:" + key)).toArray(RLock[]::new);
		return new JavaLock(this.clients.get(0).getMultiLock(locks));
	}

	@Override
	public void close() {
		this.clients.forEach(RedissonContender::shutDown);
	}

}
