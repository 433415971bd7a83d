package io.dlock.store.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode.NodeFlag;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * A Lettuce connection of the store's own. Commands are not queued while it is down: a
 * caller that gave up must not acquire a lock later.
 */
final class LettuceConnections extends RedisConnections {

	private static final Log logger = LogFactory.getLog(LettuceConnections.class);

	private static final int UNANSWERED_BEFORE_RESET = 3;

	private static final int NODE_TIMEOUT_FACTOR = 2;

	/** Of commands that were under way. */
	private static final Set<String> BROKEN = Set.of("Connection disconnected", "Connection closed");

	/** Of a cluster, if Lettuce has closed the connection to a node and kept it. */
	private static final String CLOSED = "Connection is closed";

	private static final long RECONNECT_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final AtomicInteger unanswered = new AtomicInteger();

	/** A reconnect took too long. No call waits for it until the server answers again. */
	private volatile boolean reconnectIsSlow;

	private final DedicatedFactory factory;

	private final ClientResources resources;

	private final @Nullable SharedLettuceResources shared;

	private final AtomicBoolean closed = new AtomicBoolean();

	private final Duration commandTimeout;

	private final ReentrantLock opening = new ReentrantLock();

	/** Changed under the lock for opening. */
	private volatile Future<LettuceScriptConnection> connecting = CompletableFuture
		.failedFuture(new IllegalStateException());

	private volatile @Nullable LettuceScriptConnection current;

	/** When a former master was left last. */
	private volatile long left;

	private LettuceConnections(DedicatedFactory factory, ClientResources resources,
			@Nullable SharedLettuceResources shared, Duration commandTimeout, String description) {
		super(factory, commandTimeout, description);
		this.factory = factory;
		this.resources = resources;
		this.shared = shared;
		if (shared != null) {
			shared.retain();
		}
		this.commandTimeout = commandTimeout;
		this.left = System.nanoTime() - 2 * commandTimeout.toNanos();
	}

	static @Nullable RedisConnections like(RedisConnectionFactory factory, Duration commandTimeout,
			@Nullable SharedLettuceResources shared) {
		if (!(factory instanceof LettuceConnectionFactory lettuce)) {
			return null;
		}
		// the getters of the factory answer with defaults for what it is not: only the
		// field tells what it is
		Object configuration = new DirectFieldAccessor(lettuce).getPropertyValue("configuration");
		if (!(configuration instanceof RedisConfiguration redisConfiguration)) {
			return null;
		}
		LettuceClientConfiguration application = lettuce.getClientConfiguration();
		Duration answerTimeout = RedisConfiguration.isClusterConfiguration(redisConfiguration)
				? commandTimeout.multipliedBy(NODE_TIMEOUT_FACTOR) : null;
		ClientResources resources = resources(application, shared, commandTimeout, answerTimeout);
		DedicatedFactory dedicated = new DedicatedFactory(redisConfiguration,
				LettuceLockClientConfiguration.like(application, resources, commandTimeout));
		dedicated.setShareNativeConnection(true);
		dedicated.setValidateConnection(false);
		dedicated.afterPropertiesSet();
		dedicated.start();
		return new LettuceConnections(dedicated, resources, shared, commandTimeout,
				"Lettuce, " + describe(redisConfiguration));
	}

	/**
	 * The application's resources with event loops of their own and a reconnect within
	 * the command timeout: the default backs off up to 30 seconds, which would be an
	 * outage of the locks.
	 */
	private static ClientResources resources(LettuceClientConfiguration application,
			@Nullable SharedLettuceResources shared, Duration commandTimeout, @Nullable Duration answerTimeout) {
		ClientResources given = application.getClientResources().orElse(null);
		ClientResources original = (given == null && shared != null) ? shared.get(null) : given;
		ClientResources.Builder builder = (original != null) ? SharedLettuceResources.sharing(original)
				: ClientResources.builder();
		if (shared != null) {
			builder.eventLoopGroupProvider(shared.get(given).eventLoopGroupProvider());
		}
		return builder.reconnectDelay(Delay.exponential(Duration.ofMillis(1), commandTimeout, 2, TimeUnit.MILLISECONDS))
			.nettyCustomizer(new LettuceChannels((given != null) ? given.nettyCustomizer() : null,
					RedisConnections.longestSilence(commandTimeout), answerTimeout))
			.build();
	}

	@Override
	ScriptConnection open() {
		LettuceScriptConnection usable = usable();
		return (usable != null) ? usable : openAgain();
	}

	/**
	 * A cluster connection has one to each node and tells the state of another one only,
	 * to any of them. Lettuce connects again to each by itself.
	 */
	private @Nullable LettuceScriptConnection usable() {
		LettuceScriptConnection open = this.current;
		return (open != null && (isCluster() ? this.factory.isRunning() : open.isOpen())) ? open : null;
	}

	/**
	 * All callers wait for the same attempt, and no longer than for an answer; the time
	 * spent is not available to the command. For the very first connection they wait for
	 * two timeouts: one to connect and one for the greeting.
	 */
	private ScriptConnection openAgain() {
		long begin = System.nanoTime();
		long patience = ((this.current != null) ? 1 : 2) * this.commandTimeout.toNanos();
		try {
			connectAgain(false);
			LettuceScriptConnection opened = this.connecting.get(patience, TimeUnit.NANOSECONDS);
			long left = this.commandTimeout.toNanos() - (System.nanoTime() - begin);
			return opened.withTimeout(Math.max(left, this.commandTimeout.toNanos() / 4));
		}
		catch (ExecutionException ex) {
			throw RedisErrors.notConnected(Objects.requireNonNullElse(ex.getCause(), ex));
		}
		catch (TimeoutException ex) {
			throw notAnswering(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new StoreException(Effect.NONE, false, "Interrupted while waiting for a connection to Redis", ex);
		}
	}

	/**
	 * Connect on a thread of its own, unless an attempt is under way: the client sets no
	 * limit to its duration.
	 * @param anew whether to give up the current connection
	 */
	private void connectAgain(boolean anew) {
		this.opening.lock();
		try {
			if (this.connecting.isDone() && (anew || usable() == null)) {
				FutureTask<LettuceScriptConnection> next = new FutureTask<>(() -> connect(anew));
				Thread thread = new Thread(null, next, "dlock-redis-connect", 0, false);
				thread.setDaemon(true);
				thread.start();
				this.connecting = next;
			}
		}
		finally {
			this.opening.unlock();
		}
	}

	private LettuceScriptConnection connect(boolean anew) {
		if (anew && isCluster()) {
			this.factory.refreshTopology();
		}
		else if (anew) {
			this.factory.resetConnection();
		}
		LettuceScriptConnection opened = new LettuceScriptConnection(this.factory.shared(),
				this.commandTimeout.toNanos());
		this.current = opened;
		awaitReconnect(opened);
		return opened;
	}

	/**
	 * A connection that broke is usually back within milliseconds. A call that is made
	 * meanwhile would look like an outage. That of a cluster tells nothing about those to
	 * its nodes.
	 */
	private void awaitReconnect(LettuceScriptConnection connection) {
		long begin = System.nanoTime();
		while (!connection.isOpen() && this.factory.isRunning() && !this.reconnectIsSlow && !isCluster()) {
			LockSupport.parkNanos(RECONNECT_POLL_NANOS);
			this.reconnectIsSlow = System.nanoTime() - begin > this.commandTimeout.toNanos() / 4;
		}
	}

	/**
	 * The socket is closed some moments before the connection says so.
	 */
	@Override
	boolean mayRepeat(RuntimeException failure, long nanos) {
		boolean repeat = RedisErrors.isRejected(failure) && !this.reconnectIsSlow && !isCluster()
				&& nanos < this.commandTimeout.toNanos() / 4 && !Thread.currentThread().isInterrupted();
		if (repeat) {
			LockSupport.parkNanos(RECONNECT_POLL_NANOS);
		}
		return repeat;
	}

	private static StoreException notAnswering(Exception cause) {
		return new StoreException(Effect.NONE, false, "Redis does not answer: no connection could be opened", cause);
	}

	@Override
	void answered() {
		if (this.unanswered.get() != 0) {
			this.unanswered.set(0);
		}
		if (this.reconnectIsSlow) {
			this.reconnectIsSlow = false;
		}
	}

	/**
	 * A half-open connection times out for a quarter of an hour, and a former master
	 * refuses every command: a new connection may work. It may also meet the same server,
	 * which is not to be asked all the time. Any other refusal is an answer: a new
	 * connection would meet it as well, and the old one carries renewals. A command that
	 * failed because its connection broke, or its thread was interrupted, says nothing
	 * about the next one.
	 * <p>
	 * The nodes of a cluster that answer keep their connections: only its topology is
	 * asked for again, since another node may have the slots. A node that answers nothing
	 * is left to {@link LettuceChannels}.
	 */
	@Override
	void failed(RuntimeException failure) {
		String code = RedisErrors.serverCode(failure);
		if (code != null) {
			answered();
		}
		if (isReasonToLeave(code, failure)) {
			connectAgain(true);
		}
	}

	private boolean isReasonToLeave(@Nullable String code, RuntimeException failure) {
		if (code != null) {
			return RedisErrors.mayBeOfAFormerMaster(code) && isTimeToLeave();
		}
		if (isCluster()) {
			return CLOSED.equals(failure.getMessage()) && isTimeToLeave();
		}
		return !isOver(failure) && this.unanswered.incrementAndGet() % UNANSWERED_BEFORE_RESET == 0;
	}

	private boolean isTimeToLeave() {
		long now = System.nanoTime();
		boolean time = now - this.left > this.commandTimeout.toNanos();
		if (time) {
			this.left = now;
		}
		return time;
	}

	private static boolean isOver(RuntimeException failure) {
		return failure instanceof RedisCommandInterruptedException
				|| BROKEN.contains(String.valueOf(failure.getMessage()));
	}

	@Override
	public boolean pipelines() {
		return true;
	}

	@Override
	boolean send(ScriptRun run, Consumer<Object> receiver) {
		LettuceScriptConnection open = usable();
		return open != null && open.send(run, receiver);
	}

	@Override
	public boolean isCluster() {
		return this.factory.isClusterAware();
	}

	@Override
	public List<Map<String, String>> masterSettings(String pattern) {
		if (!(this.factory.shared() instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster)) {
			return super.masterSettings(pattern);
		}
		return cluster.getPartitions()
			.stream()
			.filter((node) -> node.is(NodeFlag.UPSTREAM) && !node.hasNoSlots())
			.map((master) -> settings(() -> cluster.getConnection(master.getUri().getHost(), master.getUri().getPort())
				.sync()
				.configGet(pattern)))
			.toList();
	}

	@Override
	public void close() {
		this.factory.destroy();
		awaitAttempt();
		this.resources.shutdown(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
		if (this.shared != null && this.closed.compareAndSet(false, true)) {
			this.shared.release();
		}
	}

	/**
	 * An attempt that is under way fails now.
	 */
	private void awaitAttempt() {
		try {
			this.connecting.get(this.commandTimeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.trace("There is no connection to Redis", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Opens up the connection that all share.
	 */
	private static final class DedicatedFactory extends LettuceConnectionFactory {

		DedicatedFactory(RedisConfiguration configuration, LettuceClientConfiguration client) {
			super(configuration, client);
		}

		StatefulConnection<byte[], byte[]> shared() {
			return Objects.requireNonNull(isClusterAware() ? getSharedClusterConnection() : getSharedConnection());
		}

		void refreshTopology() {
			if (getNativeClient() instanceof RedisClusterClient cluster) {
				cluster.refreshPartitions();
			}
		}

	}

}
