package io.dlock.store.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import org.springframework.data.redis.connection.RedisConnection;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.UnifiedJedis;

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
