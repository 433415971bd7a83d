package io.dlock.store.redis.connection;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;

/**
 * Runs scripts with any client that Spring Data knows, one after the other.
 */
public class SpringScriptConnection implements ScriptConnection {

	private static final Log logger = LogFactory.getLog(SpringScriptConnection.class);

	private final RedisConnection connection;

	public SpringScriptConnection(RedisConnection connection) {
		this.connection = connection;
	}

	@Override
	public @Nullable Object run(byte[] script, boolean cached, ReturnType returnType, int keys, byte[]... keysAndArgs) {
		return cached ? this.connection.scriptingCommands().evalSha(script, returnType, keys, keysAndArgs)
				: this.connection.scriptingCommands().eval(script, returnType, keys, keysAndArgs);
	}

	@Override
	public List<Object> runAll(List<ScriptRun> runs, boolean cached) {
		List<Object> answers = new ArrayList<>(runs.size());
		for (ScriptRun run : runs) {
			Object answer = runOne(run, cached);
			answers.add(answer);
			if (answer instanceof RuntimeException ex && RedisErrors.serverCode(ex) == null) {
				// it fails for the others as well: do not spend a timeout on each
				answers.addAll(Collections.nCopies(runs.size() - answers.size(), ex));
				break;
			}
		}
		return answers;
	}

	/**
	 * Run a script.
	 * @return its answer, or the exception
	 */
	final Object runOne(ScriptRun run, boolean cached) {
		try {
			return RedisAnswers
				.required(run(run.script(cached), cached, run.returnType(), run.keys(), run.keysAndArgs()));
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	@Override
	public void close() {
		try {
			this.connection.close();
		}
		catch (RuntimeException ex) {
			logger.debug("Could not close a Redis connection", ex);
		}
	}

}
