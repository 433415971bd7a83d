package io.dlock.store.redis.connection;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import org.springframework.data.redis.connection.RedisConnection;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.KeyValue;

/**
 * Runs many scripts in one round trip, by the pipelines of Jedis: Spring Data does not
 * know those of a cluster.
 */
class JedisScriptConnection extends SpringScriptConnection {

	private final UnifiedJedis jedis;

	JedisScriptConnection(RedisConnection connection, UnifiedJedis jedis) {
		super(connection);
		this.jedis = jedis;
	}

	@Override
	public List<Object> runAll(List<ScriptRun> runs, boolean cached) {
		List<Supplier<Object>> answers = new ArrayList<>(runs.size());
		try (AbstractPipeline pipeline = this.jedis.pipelined()) {
			for (ScriptRun run : runs) {
				answers.add(append(pipeline, run, cached));
			}
			pipeline.sync();
		}
		return answers.stream().map(JedisScriptConnection::answer).toList();
	}

	@Override
	public List<Object> runAll(List<ScriptRun> runs, boolean cached, WaitCommand acknowledgement) {
		try (AbstractPipeline pipeline = this.jedis.pipelined()) {
			return runAll(pipeline, (run) -> "", runs, cached, acknowledgement);
		}
	}

	/**
	 * Run scripts on several nodes, with one command behind those of each node.
	 */
	final List<Object> runAll(AbstractPipeline pipeline, Function<ScriptRun, Object> node, List<ScriptRun> runs,
			boolean cached, WaitCommand acknowledgement) {
		List<Supplier<Object>> answers = new ArrayList<>(runs.size());
		for (ScriptRun run : runs) {
			answers.add(append(pipeline, run, cached));
		}
		Map<Object, Supplier<Object>> ofNodes = new HashMap<>();
		List<Supplier<Object>> waits = runs.stream()
			.map((run) -> ofNodes.computeIfAbsent(node.apply(run),
					(each) -> wait(pipeline, run.keysAndArgs()[0], acknowledgement)))
			.toList();
		pipeline.sync();
		return IntStream.range(0, runs.size())
			.mapToObj((i) -> acknowledgement.confirmed(answer(answers.get(i)), () -> answer(waits.get(i))))
			.toList();
	}

	private static Supplier<Object> wait(AbstractPipeline pipeline, byte[] key, WaitCommand acknowledgement) {
		long millis = acknowledgement.timeout().toMillis();
		try {
			if (acknowledgement.isFsync()) {
				Supplier<KeyValue<Long, Long>> written = pipeline.waitAOF(key, 1, 0, millis);
				return () -> written.get().getKey();
			}
			return pipeline.waitReplicas(key, acknowledgement.replicas(), millis)::get;
		}
		catch (RuntimeException ex) {
			return failing(ex);
		}
	}

	static Supplier<Object> failing(RuntimeException failure) {
		return () -> {
			throw failure;
		};
	}

	Supplier<Object> append(AbstractPipeline pipeline, ScriptRun run, boolean cached) {
		byte[] script = run.script(cached);
		return cached ? pipeline.evalsha(script, run.keys(), run.keysAndArgs())
				: pipeline.eval(script, run.keys(), run.keysAndArgs());
	}

	private static Object answer(Supplier<Object> answer) {
		try {
			return answer.get();
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

}
