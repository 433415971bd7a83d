package io.dlock.store.redis.connection;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.ClusterCommandArguments;
import redis.clients.jedis.ClusterCommandObjects;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.MultiNodePipelineBase;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.clients.jedis.providers.ClusterConnectionProvider;

/**
 * Runs many scripts on the nodes of a cluster. A pipeline of Jedis follows no
 * redirection, and fails as a whole when it cannot connect to one of the nodes.
 */
final class JedisClusterScriptConnection extends JedisScriptConnection {

	private final RedisClusterConnection cluster;

	/** The nodes that take no connection, each with the failure. */
	private final Map<RedisClusterNode, RuntimeException> down = new HashMap<>();

	private final UnifiedJedis jedis;

	JedisClusterScriptConnection(RedisClusterConnection cluster, UnifiedJedis jedis) {
		super(cluster, jedis);
		this.cluster = cluster;
		this.jedis = jedis;
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
		int slot = slot(run);
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

	/**
	 * A script that was sent to a node without its slot runs on the other node, and its
	 * acknowledgement is missing.
	 */
	@Override
	public List<Object> runAll(List<ScriptRun> runs, boolean cached, WaitCommand acknowledgement) {
		List<Object> answers;
		try (NodePipeline pipeline = new NodePipeline(connections())) {
			answers = new ArrayList<>(
					runAll(pipeline, (run) -> pipeline.node(slot(run)), runs, cached, acknowledgement));
		}
		for (int i = 0; i < runs.size(); i++) {
			if (answers.get(i) instanceof JedisRedirectionException) {
				answers.set(i,
						acknowledgement.confirmed(runOne(runs.get(i), cached), RedisUnacknowledgedException::moved));
			}
		}
		return answers;
	}

	/**
	 * Which node has a slot is told by a field only.
	 */
	private ClusterConnectionProvider connections() {
		return (ClusterConnectionProvider) Objects
			.requireNonNull(new DirectFieldAccessor(this.jedis).getPropertyValue("provider"));
	}

	private static int slot(ScriptRun run) {
		return ClusterSlotHashUtil.calculateSlot(run.keysAndArgs()[0]);
	}

	/**
	 * Remembers the node of each slot: the command behind some scripts must go where they
	 * went.
	 */
	private static final class NodePipeline extends MultiNodePipelineBase {

		private final ClusterConnectionProvider connections;

		private final Map<Integer, HostAndPort> nodes = new HashMap<>();

		NodePipeline(ClusterConnectionProvider connections) {
			super(new ClusterCommandObjects());
			this.connections = connections;
		}

		HostAndPort node(int slot) {
			return this.nodes.computeIfAbsent(slot, this.connections::getNode);
		}

		@Override
		protected HostAndPort getNodeKey(CommandArguments arguments) {
			return node(((ClusterCommandArguments) arguments).getCommandHashSlot());
		}

		@Override
		protected Connection getConnection(HostAndPort node) {
			return this.connections.getConnection(node);
		}

	}

}
