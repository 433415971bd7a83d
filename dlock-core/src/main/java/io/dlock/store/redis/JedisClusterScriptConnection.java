package io.dlock.store.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/**
 * Runs many scripts on the nodes of a cluster. A pipeline of Jedis follows no
 * redirection, and fails as a whole when it cannot connect to one of the nodes.
 */
final class JedisClusterScriptConnection extends JedisScriptConnection {

	private final RedisClusterConnection cluster;

	/** The nodes that take no connection, each with the failure. */
	private final Map<RedisClusterNode, RuntimeException> down = new HashMap<>();

	JedisClusterScriptConnection(RedisClusterConnection cluster, UnifiedJedis jedis) {
		super(cluster, jedis);
		this.cluster = cluster;
	}

	@Override
	public List<Object> runAll(List<ScriptRun> runs, boolean cached) {
		List<Object> answers = new ArrayList<>(super.runAll(runs, cached));
		for (int i = 0; i < runs.size(); i++) {
			if (answers.get(i) instanceof JedisRedirectionException) {
				answers.set(i, runOne(runs.get(i), cached));
			}
		}
		return answers;
	}

	/**
	 * A node that takes no connection is tried only once.
	 */
	@Override
	Supplier<Object> append(AbstractPipeline pipeline, ScriptRun run, boolean cached) {
		int slot = ClusterSlotHashUtil.calculateSlot(run.keysAndArgs()[0]);
		for (Map.Entry<RedisClusterNode, RuntimeException> node : this.down.entrySet()) {
			if (node.getKey().servesSlot(slot)) {
				return failing(node.getValue());
			}
		}
		try {
			return super.append(pipeline, run, cached);
		}
		catch (RuntimeException ex) {
			this.down.put(this.cluster.clusterGetNodeForSlot(slot), ex);
			return failing(ex);
		}
	}

	private static Supplier<Object> failing(RuntimeException failure) {
		return () -> {
			throw failure;
		};
	}

}
