package io.dlock.store.redis;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ReturnType;

import io.dlock.store.redis.RedisLockScript.Batch;

/**
 * A connection to Redis that runs scripts.
 */
interface ScriptConnection extends AutoCloseable {

	/**
	 * Run a script.
	 * @param script the digest or the text of the script
	 * @param cached whether it is the digest
	 * @param returnType what it answers
	 * @param keys how many of the following are keys
	 * @param keysAndArgs the keys and the arguments
	 * @return the answer: numbers, bytes and lists of them
	 */
	@Nullable Object run(byte[] script, boolean cached, ReturnType returnType, int keys, byte[]... keysAndArgs);

	/**
	 * Run a script many times, in one round trip if the client can.
	 * @param batch what to run
	 * @return the answer or the {@code RuntimeException} of each, in the same order
	 */
	List<Object> runAll(Batch batch);

	@Override
	void close();

}
