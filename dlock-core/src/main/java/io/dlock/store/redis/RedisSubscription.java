package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.util.backoff.BackOffExecution;

import io.dlock.store.Mailbox;
import io.dlock.store.redis.connection.RedisConnections;

/**
 * The subscription of a process to its channel, to which the process also sends beats. A
 * subscription without messages is dead. Its client opens it again, or this does if the
 * client has given up: a connection on which nothing is sent does not break by itself.
 */
final class RedisSubscription implements Mailbox {

	private static final Log logger = LogFactory.getLog(RedisSubscription.class);

	/** No storage key is empty. */
	private static final byte[] BEAT = {};

	private final RedisConnections connections;

	private final String channel;

	private final Duration commandTimeout;

	/** Whether the store is closed, and with it the connections for beats. */
	private final BooleanSupplier storeClosed;

	private final ExecutorService threads = threads();

	private final RedisMessageListenerContainer container = new RedisMessageListenerContainer();

	/** Held while the container starts or ends. */
	private final ReentrantLock changing = new ReentrantLock();

	private volatile boolean opened;

	private volatile long lastMessage;

	RedisSubscription(RedisConnections connections, RedisConnectionFactory subscribers, String channel,
			Duration commandTimeout, BooleanSupplier storeClosed, Consumer<String> onLockAvailable) {
		this.connections = connections;
		this.channel = channel;
		this.commandTimeout = commandTimeout;
		this.storeClosed = storeClosed;
		this.container.setConnectionFactory(subscribers);
		this.container.setTaskExecutor(new SyncTaskExecutor());
		this.container.setSubscriptionExecutor(this.threads);
		this.container.setMaxSubscriptionRegistrationWaitingTime(commandTimeout.multipliedBy(2).toMillis());
		this.container.setRecoveryBackoff(() -> this::nextAttempt);
		this.container.afterPropertiesSet();
		this.container.addMessageListener((message, pattern) -> {
			this.lastMessage = System.nanoTime();
			if (message.getBody().length > 0) {
				onLockAvailable.accept(new String(message.getBody(), StandardCharsets.US_ASCII));
			}
		}, ChannelTopic.of(channel));
	}

	/**
	 * Subscribe.
	 * @throws RuntimeException if that fails; the subscription has to be closed then
	 */
	void open() {
		this.container.start();
		this.opened = true;
		this.lastMessage = System.nanoTime();
		beatAgain();
	}

	/**
	 * The container of Lettuce makes its next attempt on the thread of the caller.
	 */
	private long nextAttempt() {
		return this.opened ? this.commandTimeout.toMillis() : BackOffExecution.STOP;
	}

	/**
	 * Each beat has a thread of its own: a thread that waits in between would be one more
	 * in every process.
	 */
	private void beatAgain() {
		Duration pause = longestSilence().dividedBy(RedisConnections.BEATS_IN_SILENCE);
		Executor next = (beat) -> {
			if (this.storeClosed.getAsBoolean() || this.threads.isShutdown()) {
				return;
			}
			try {
				this.threads.execute(beat);
			}
			catch (Throwable ex) {
				logger.debug("No thread could be started for a beat", ex);
				beatAgain();
			}
		};
		CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS, next).execute(() -> {
			try {
				// the answer to the last beat has had time to come
				openIfDead();
				beat();
			}
			catch (Throwable ex) {
				this.lastMessage = System.nanoTime();
				logger.debug("The subscription of this process does not work, will try again", ex);
			}
			beatAgain();
		});
	}

	private Duration longestSilence() {
		return RedisConnections.longestSilence(this.commandTimeout);
	}

	private void beat() {
		try (RedisConnection connection = this.connections.factory().getConnection()) {
			connection.publish(this.channel.getBytes(StandardCharsets.US_ASCII), BEAT);
		}
	}

	/**
	 * The container of Jedis gives a subscription up that the server, or the pool,
	 * refuses when it is to be opened again. Silence counts while beats are sent.
	 */
	private void openIfDead() {
		if (!this.connections.dropsRefusedSubscriptions()
				|| System.nanoTime() - this.lastMessage < longestSilence().multipliedBy(2).toNanos()) {
			return;
		}
		this.changing.lock();
		try {
			this.lastMessage = System.nanoTime();
			if (!this.threads.isShutdown()) {
				this.container.stop();
				this.container.start();
			}
		}
		finally {
			this.changing.unlock();
		}
	}

	/**
	 * Each task has a thread of its own, which ends with it.
	 */
	private static ExecutorService threads() {
		AtomicInteger count = new AtomicInteger();
		return new ThreadPoolExecutor(0, Integer.MAX_VALUE, 0, TimeUnit.SECONDS, new SynchronousQueue<>(), (task) -> {
			Thread thread = new Thread(null, task, "dlock-mailbox-" + count.incrementAndGet(), 0, false);
			thread.setDaemon(true);
			return thread;
		});
	}

	/**
	 * A beat that is under way and the pause of a container that connects again end by
	 * themselves.
	 */
	@Override
	public void close() {
		this.changing.lock();
		try {
			this.container.destroy();
			this.threads.shutdown();
		}
		catch (Exception ex) {
			throw new IllegalStateException("Could not close the subscription", ex);
		}
		finally {
			this.changing.unlock();
		}
		try {
			this.threads.awaitTermination(this.commandTimeout.multipliedBy(2).toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
