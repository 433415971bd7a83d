package io.dlock.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;

import io.dlock.store.StoreException;

/**
 * Where the store gets its connections from: a factory like the application's, but with
 * the command timeout of the lock.
 */
abstract class DedicatedConnections implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(DedicatedConnections.class);

	private static final ClassLoader CLASS_LOADER = DedicatedConnections.class.getClassLoader();

	private static final boolean LETTUCE = ClassUtils.isPresent("io.lettuce.core.RedisClient", CLASS_LOADER);

	private static final boolean JEDIS = ClassUtils.isPresent("redis.clients.jedis.Jedis", CLASS_LOADER);

	static DedicatedConnections like(RedisConnectionFactory factory, Duration commandTimeout) {
		DedicatedConnections connections = null;
		if (LETTUCE) {
			connections = LettuceConnections.like(factory, commandTimeout);
		}
		if (connections == null && JEDIS) {
			connections = JedisConnections.like(factory, commandTimeout);
		}
		if (connections == null) {
			logger.warn("Locks use the application's own Redis connections (" + factory.getClass().getName()
					+ "): make sure that their command timeout is at most " + commandTimeout.toMillis() + " ms");
			connections = new Shared(factory);
		}
		return connections;
	}

	/**
	 * Open a connection.
	 * @return the connection, to be closed by the caller
	 * @throws StoreException if there is none; nothing was sent then
	 */
	final RedisConnection open() {
		try {
			return factory().getConnection();
		}
		catch (RuntimeException ex) {
			throw RedisErrors.notConnected(ex);
		}
	}

	/**
	 * Run a script many times, in one round trip if the client can. This is for clients
	 * that can not.
	 * @param connection a connection of these
	 * @param batch what to run
	 * @return the answer or the exception of each, in the same order
	 */
	List<Object> runAll(RedisConnection connection, RedisLockScript.Batch batch) {
		List<Object> answers = new ArrayList<>(batch.runs().size());
		for (byte[][] run : batch.runs()) {
			try {
				answers.add(batch.runAlone(connection, run));
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

	/**
	 * The server answered.
	 */
	void answered() {
	}

	/**
	 * A command failed.
	 * @param failure how
	 */
	void failed(StoreException failure) {
	}

	abstract RedisConnectionFactory factory();

	abstract String description();

	@Override
	public abstract void close();

	static void closeQuietly(RedisConnection connection) {
		try {
			connection.close();
		}
		catch (RuntimeException ex) {
			logger.debug("Could not close a Redis connection", ex);
		}
	}

	/**
	 * The application's own connections, of a kind this library does not know.
	 */
	private static final class Shared extends DedicatedConnections {

		private final RedisConnectionFactory factory;

		Shared(RedisConnectionFactory factory) {
			this.factory = factory;
		}

		@Override
		RedisConnectionFactory factory() {
			return this.factory;
		}

		@Override
		String description() {
			return this.factory.getClass().getSimpleName();
		}

		@Override
		public void close() {
		}

	}

}
