package io.dlock.store.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;

import io.dlock.store.redis.RedisLockScript.Batch;

/**
 * Runs scripts with any client that Spring Data knows, one after the other.
 */
class SpringScriptConnection implements ScriptConnection {

	private static final Log logger = LogFactory.getLog(SpringScriptConnection.class);

	private final RedisConnection connection;

	SpringScriptConnection(RedisConnection connection) {
		this.connection = connection;
	}

	@Override
	public @Nullable Object run(byte[] script, boolean cached, ReturnType returnType, int keys, byte[]... keysAndArgs) {
		return cached ? this.connection.scriptingCommands().evalSha(script, returnType, keys, keysAndArgs)
				: this.connection.scriptingCommands().eval(script, returnType, keys, keysAndArgs);
	}

	@Override
	public List<Object> runAll(Batch batch) {
		List<Object> answers = new ArrayList<>(batch.runs().size());
		for (byte[][] run : batch.runs()) {
			try {
				answers.add(batch.runAlone(this, run));
			}
			catch (RuntimeException ex) {
				answers.add(ex);
				if (RedisErrors.serverCode(ex) == null) {
					// it fails for the others as well: do not spend a timeout on each
					answers.addAll(Collections.nCopies(batch.runs().size() - answers.size(), ex));
					return answers;
				}
			}
		}
		return answers;
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
