package io.dlock.store.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;

import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * The connections of the store.
 */
public abstract class RedisConnections implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(RedisConnections.class);

	/** The number of beats that are due before a subscription counts as dead. */
	public static final int BEATS_IN_SILENCE = 3;

	private final RedisConnectionFactory factory;

	private final Duration commandTimeout;

	private final String description;

	private volatile long answered = System.nanoTime();

	RedisConnections(RedisConnectionFactory factory, Duration commandTimeout, String description) {
		this.factory = factory;
		this.commandTimeout = commandTimeout;
		this.description = description;
	}

	static String describe(RedisConfiguration configuration) {
		if (configuration instanceof RedisClusterConfiguration cluster) {
			return "cluster " + cluster.getClusterNodes();
		}
		if (configuration instanceof RedisSentinelConfiguration sentinel) {
			return "sentinel " + sentinel.getSentinels();
		}
		if (configuration instanceof RedisConfiguration.WithHostAndPort server) {
			return server.getHostName() + ":" + server.getPort();
		}
		return configuration.getClass().getSimpleName();
	}

	/**
	 * The time for which a subscription may hear nothing before it counts as dead.
	 * @param commandTimeout the command timeout
	 * @return the time, in which several beats are due
	 */
	public static Duration longestSilence(Duration commandTimeout) {
		return commandTimeout.multipliedBy(2 * BEATS_IN_SILENCE);
	}

	/**
	 * Run a command and note whether the server answers it.
	 * @param <T> the type of the answer
	 * @param operation the name of the command, for messages
	 * @param command the command
	 * @return its answer
	 */
	public final <T> T execute(String operation, Function<ScriptConnection, T> command) {
		return noted(operation, () -> {
			T answer = apply(command);
			answered();
			return answer;
		});
	}

	/**
	 * Run several scripts, and note whether the server answers any of them.
	 * @param operation the name of the command, for messages
	 * @param runs the scripts
	 * @return the answer or the exception of each, in the same order
	 */
	public final List<Object> executeAll(String operation, List<ScriptRun> runs) {
		return executeAll(operation, runs, null);
	}

	/**
	 * Run several scripts, each with an acknowledgement of its server.
	 * @param operation the name of the command, for messages
	 * @param runs the scripts
	 * @param acknowledgement the acknowledgement, or {@code null} if none is needed
	 * @return the answer or the exception of each, in the same order
	 */
	public final List<Object> executeAll(String operation, List<ScriptRun> runs,
			@Nullable WaitCommand acknowledgement) {
		try {
			return noted(operation, () -> noted(
					apply((connection) -> sent(RedisLockScript.answers(connection, runs, acknowledgement)))));
		}
		catch (StoreException ex) {
			logger.debug("Could not " + operation + " " + runs.size() + " locks", ex);
			return Collections.nCopies(runs.size(), ex);
		}
	}

	/**
	 * If the server rejected all scripts, throw the rejection, as for a single script.
	 */
	private static List<Object> sent(List<Object> answers) {
		if (!answers.isEmpty() && answers.stream()
			.allMatch((answer) -> answer instanceof RuntimeException ex && RedisErrors.isRejected(ex))) {
			throw (RuntimeException) answers.get(0);
		}
		return answers;
	}

	private List<Object> noted(List<Object> answers) {
		if (answers.stream().anyMatch((answer) -> !isUnanswered(answer))) {
			answered();
		}
		answers.stream()
			.filter(RedisConnections::isUnanswered)
			.findFirst()
			.ifPresent((ex) -> failed((RuntimeException) ex));
		return answers;
	}

	/**
	 * A script without its acknowledgement was answered all the same.
	 */
	private static boolean isUnanswered(Object answer) {
		return answer instanceof RuntimeException && !(answer instanceof RedisUnacknowledgedException);
	}

	/**
	 * Run a command whose failure does not count as a failure of the connection.
	 * @param <T> the type of the answer
	 * @param operation the name of the command, for messages
	 * @param command the command
	 * @return its answer
	 */
	public final <T> T run(String operation, Function<ScriptConnection, T> command) {
		return translated(operation, () -> apply(command));
	}

	private <T> T apply(Function<ScriptConnection, T> command) {
		long begin = System.nanoTime();
		while (true) {
			try (ScriptConnection connection = open()) {
				return command.apply(connection);
			}
			catch (RuntimeException ex) {
				if (!mayRepeat(ex, System.nanoTime() - begin)) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Whether a command that was not sent may be sent now, after a pause.
	 * @param failure the exception of the client
	 * @param nanos the time since the first attempt
	 */
	boolean mayRepeat(RuntimeException failure, long nanos) {
		return false;
	}

	private <T> T noted(String operation, Supplier<T> call) {
		return translated(operation, () -> {
			try {
				return call.get();
			}
			catch (StoreException ex) {
				throw ex;
			}
			catch (RuntimeException ex) {
				failed(ex);
				throw ex;
			}
		});
	}

	private <T> T translated(String operation, Supplier<T> call) {
		try {
			return call.get();
		}
		catch (StoreException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw RedisErrors.isPoolExhausted(ex) ? noConnectionIsFree(ex) : RedisErrors.translate(operation, ex);
		}
	}

	/**
	 * Open a connection.
	 * @return the connection, to be closed by the caller
	 * @throws StoreException if there is none; nothing was sent then
	 */
	ScriptConnection open() {
		try {
			return new SpringScriptConnection(this.factory.getConnection());
		}
		catch (RuntimeException ex) {
			throw notConnected(ex);
		}
	}

	/**
	 * The server answered.
	 */
	void answered() {
		this.answered = System.nanoTime();
	}

	public final StoreException notConnected(RuntimeException ex) {
		return RedisErrors.isPoolExhausted(ex) ? noConnectionIsFree(ex) : RedisErrors.notConnected(ex);
	}

	/**
	 * The pool is congested if the server has answered another call during the wait.
	 * Otherwise all connections wait for the server.
	 */
	private StoreException noConnectionIsFree(RuntimeException ex) {
		long millis = this.commandTimeout.toMillis();
		if (System.nanoTime() - this.answered < this.commandTimeout.toNanos()) {
			return new StoreCongestedException("No Redis connection became free within " + millis
					+ " ms: too many locks at once, or too few connections (spring.data.redis.jedis.pool.max-active)",
					ex);
		}
		return new StoreException(Effect.NONE, false,
				"Redis has answered no call for " + millis + " ms, and all lock connections wait", ex);
	}

	/**
	 * A command failed.
	 * @param failure the exception of the client
	 */
	void failed(RuntimeException failure) {
	}

	/**
	 * The settings of each master, as far as it tells them: the right to {@code CONFIG}
	 * would let a user change the server, so that the users of locks may lack it.
	 * @param pattern the names
	 * @return names and values for each master; none for one that does not tell them
	 */
	public List<Map<String, String>> masterSettings(String pattern) {
		try (RedisConnection connection = this.factory.getConnection()) {
			if (!(connection instanceof RedisClusterConnection cluster)) {
				return List.of(settings(() -> map(connection.serverCommands().getConfig(pattern))));
			}
			List<Map<String, String>> all = new ArrayList<>();
			for (RedisClusterNode node : cluster.clusterGetNodes()) {
				if (node.isMaster() && !node.getSlotRange().getSlots().isEmpty()) {
					all.add(settings(() -> map(cluster.serverCommands().getConfig(node, pattern))));
				}
			}
			return all;
		}
		catch (RuntimeException ex) {
			logger.debug("Redis does not tell its settings", ex);
			return List.of();
		}
	}

	private static Map<String, String> map(@Nullable Properties properties) {
		Map<String, String> map = new HashMap<>();
		if (properties != null) {
			properties.stringPropertyNames().forEach((name) -> map.put(name, properties.getProperty(name)));
		}
		return map;
	}

	static Map<String, String> settings(Supplier<Map<String, String>> command) {
		try {
			return command.get();
		}
		catch (RuntimeException ex) {
			logger.debug("Redis does not tell its settings", ex);
			return Map.of();
		}
	}

	public final RedisConnectionFactory factory() {
		return this.factory;
	}

	/**
	 * The connections for subscriptions.
	 * @return a factory, or {@code null} if it is not known how those of the client end
	 */
	public @Nullable RedisConnectionFactory subscribers() {
		return this.factory;
	}

	/**
	 * Whether several scripts take one round trip.
	 */
	public boolean pipelines() {
		return false;
	}

	/**
	 * Send a script without a wait, for a connection or for the answer.
	 * @param operation the name of the command, for messages
	 * @param run the script
	 * @return completes with the answer or a {@link StoreException}, on a thread that
	 * must not be blocked; {@code null} if that is not possible now, and nothing was sent
	 */
	public final @Nullable CompletableFuture<Object> send(String operation, ScriptRun run) {
		CompletableFuture<Object> result = new CompletableFuture<>();
		boolean sent = send(run, (answer) -> {
			if (answer instanceof RuntimeException failure) {
				// before a connection is opened again, for which no thread may be left
				result.completeExceptionally(RedisErrors.translate(operation, failure));
				failed(failure);
			}
			else {
				answered();
				result.complete(answer);
			}
		});
		return sent ? result : null;
	}

	/**
	 * Send a script without a wait.
	 * @param run the script
	 * @param receiver takes the answer or an exception; does not block
	 * @return {@code false} if that is not possible now, and nothing was sent
	 */
	boolean send(ScriptRun run, Consumer<Object> receiver) {
		return false;
	}

	/**
	 * Whether Spring Data drops a subscription if the server refuses to open it again,
	 * even if the server would accept it later.
	 */
	public boolean dropsRefusedSubscriptions() {
		return false;
	}

	/**
	 * Whether there are several nodes, each with some of the locks.
	 * @return whether this is a cluster
	 */
	public abstract boolean isCluster();

	public final String description() {
		return this.description;
	}

	@Override
	public abstract void close();

}
