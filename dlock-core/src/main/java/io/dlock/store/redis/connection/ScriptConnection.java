package io.dlock.store.redis.connection;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ReturnType;

import io.dlock.store.StoreMisconfiguredException;

/**
 * A connection to Redis that runs scripts.
 */
public interface ScriptConnection extends AutoCloseable {

	/**
	 * Run a script.
	 * @param script the digest or the text of the script
	 * @param cached whether it is the digest
	 * @param returnType the type of the answer
	 * @param keys the number of keys among the following
	 * @param keysAndArgs the keys and the arguments
	 * @return the answer: numbers, bytes and lists of them
	 */
	@Nullable Object run(byte[] script, boolean cached, ReturnType returnType, int keys, byte[]... keysAndArgs);

	/**
	 * Report when a script is on its way, if this connection keeps the order of its
	 * commands.
	 * @param onSent called when the script is sent, before its answer
	 * @return the connection that reports
	 */
	default ScriptConnection reporting(Runnable onSent) {
		return this;
	}

	/**
	 * Run scripts, in one round trip if the client can.
	 * @param runs the scripts
	 * @param cached whether the server knows them
	 * @return the answer or the {@code RuntimeException} of each, in the same order
	 */
	List<Object> runAll(List<ScriptRun> runs, boolean cached);

	/**
	 * Run scripts that grant or renew locks, and wait for the acknowledgement of their
	 * server in the same round trip.
	 * @param runs the scripts
	 * @param cached whether the server knows them
	 * @param acknowledgement the acknowledgement
	 * @return the {@linkplain WaitCommand#confirmed confirmed} answer or the
	 * {@code RuntimeException} of each, in the same order
	 */
	default List<Object> runAll(List<ScriptRun> runs, boolean cached, WaitCommand acknowledgement) {
		throw new StoreMisconfiguredException(
				"Locks need an acknowledgement of Redis (dlock.redis.acknowledge), but use the application's own connections, of a client that is not known.",
				"Use Lettuce or Jedis, or set dlock.redis.acknowledge=none.", null);
	}

	@Override
	void close();

}
