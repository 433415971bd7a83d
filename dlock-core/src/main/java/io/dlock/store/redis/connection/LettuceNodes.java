package io.dlock.store.redis.connection;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.protocol.AsyncCommand;

/**
 * The servers behind the Lettuce connection that all threads share. The command that
 * waits for an acknowledgement must follow its script to the same server, so that a
 * cluster connection may not choose the node of each.
 */
final class LettuceNodes {

	private final StatefulConnection<byte[], byte[]> shared;

	private final long timeout;

	private final Map<StatefulConnection<byte[], byte[]>, LettuceBatches> batches = new ConcurrentHashMap<>();

	LettuceNodes(StatefulConnection<byte[], byte[]> shared, long timeoutNanos) {
		this.shared = shared;
		this.timeout = timeoutNanos;
	}

	/**
	 * Send scripts to the servers of their keys. A script that cannot be sent fails.
	 * @param commands the commands of these scripts
	 * @return for each script the answer of the command that waits for it
	 */
	List<CompletableFuture<Object>> send(List<ScriptRun> runs, List<AsyncCommand<byte[], byte[], ?>> commands,
			WaitCommand acknowledgement) {
		Map<RedisClusterNode, Part> parts = new HashMap<>();
		List<CompletableFuture<Object>> acknowledged = new ArrayList<>();
		for (int i = 0; i < runs.size(); i++) {
			Part part = parts.computeIfAbsent(node(runs.get(i)),
					(node) -> new Part(new ArrayList<>(), new CompletableFuture<>()));
			part.commands().add(commands.get(i));
			acknowledged.add(part.acknowledged());
		}
		parts.forEach((node, part) -> send(node, part, acknowledgement));
		return acknowledged;
	}

	/**
	 * The node of a script; one without an address if there is no cluster, or no node has
	 * the slot.
	 */
	@SuppressWarnings("FutureReturnValueIgnored") // it fails
	private RedisClusterNode node(ScriptRun run) {
		if (!(this.shared instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster)) {
			return RedisClusterNode.of("");
		}
		byte[] key = run.keysAndArgs()[0];
		RedisClusterNode master = cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
		if (master == null) {
			// lets Lettuce ask for the topology again
			cluster.async().type(key);
		}
		return (master != null) ? master : RedisClusterNode.of("");
	}

	@SuppressWarnings("FutureReturnValueIgnored") // its failure is that of the commands
	private void send(RedisClusterNode node, Part part, WaitCommand acknowledgement) {
		if (!(this.shared instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster)) {
			batches(this.shared, acknowledgement).send(part.commands(), part.acknowledged());
			return;
		}
		RedisURI uri = node.getUri();
		if (uri == null) {
			part.fail(new RedisException("No node of the cluster has the slot"));
			return;
		}
		cluster.getConnectionAsync(uri.getHost(), uri.getPort()).whenComplete((connection, ex) -> {
			if (ex != null) {
				part.fail(ex);
			}
			else {
				batches(connection, acknowledgement).send(part.commands(), part.acknowledged());
			}
		});
	}

	private LettuceBatches batches(StatefulConnection<byte[], byte[]> connection, WaitCommand acknowledgement) {
		LettuceBatches known = this.batches.get(connection);
		if (known != null) {
			return known;
		}
		this.batches.keySet().removeIf((each) -> !each.isOpen());
		return this.batches.computeIfAbsent(connection,
				(each) -> new LettuceBatches(each, acknowledgement, this.timeout));
	}

	/**
	 * The scripts for one server.
	 *
	 * @param commands the scripts
	 * @param acknowledged the answer of the command that waits for them
	 */
	private record Part(List<AsyncCommand<byte[], byte[], ?>> commands, CompletableFuture<Object> acknowledged) {

		void fail(Throwable ex) {
			this.commands.forEach((command) -> command.completeExceptionally(ex));
			this.acknowledged.completeExceptionally(ex);
		}

	}

}
