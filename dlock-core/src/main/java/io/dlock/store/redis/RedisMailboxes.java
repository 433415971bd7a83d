package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.util.backoff.FixedBackOff;

import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.redis.connection.RedisAnswers;
import io.dlock.store.redis.connection.RedisConnections;
import io.dlock.store.redis.connection.RedisErrors;

/**
 * Subscribes waiting processes to one channel each, {@code dlock:mail:<address>}. Publish
 * and subscribe need no configuration of the server.
 * <p>
 * A process also sends beats to its own channel. A subscription without messages is dead,
 * and its client opens it again: a connection on which nothing is sent does not break by
 * itself.
 */
final class RedisMailboxes {

	private static final Log logger = LogFactory.getLog(RedisMailboxes.class);

	/** No storage key is empty. */
	private static final byte[] BEAT = {};

	private static final String POLLING = "Waiting processes poll: Redis refuses the messages of the locks (%s). "
			+ "They need +publish +subscribe +unsubscribe, the channels &%s*, and scripts that may publish";

	private final RedisConnections connections;

	private final String prefix;

	private final String channelPrefix;

	private final Duration commandTimeout;

	private final AtomicBoolean warned = new AtomicBoolean();

	/** Why there is no subscription, as Redis says it, or empty. */
	private volatile String noSubscription = "";

	private volatile boolean closed;

	RedisMailboxes(RedisConnections connections, String prefix, Duration commandTimeout) {
		this.connections = connections;
		this.prefix = prefix;
		this.channelPrefix = prefix + ":mail:";
		this.commandTimeout = commandTimeout;
	}

	/**
	 * A channel at which no process listens.
	 */
	byte[] checkedChannel() {
		return (this.channelPrefix + "check").getBytes(StandardCharsets.US_ASCII);
	}

	/**
	 * Why waiting processes poll.
	 * @param refusal why Redis sends no messages of scripts, or empty
	 * @return the reason, or {@code null} if they need not
	 */
	@Nullable String refusal(String refusal) {
		String reason = refusal.isEmpty() ? this.noSubscription : refusal;
		return reason.isEmpty() ? null : POLLING.formatted(reason, this.channelPrefix);
	}

	/**
	 * Warn if Redis sends no messages of scripts, as the release of a lock is one.
	 */
	void verify() {
		try {
			warnIf(refusedToScripts());
		}
		catch (StoreException ex) {
			logger.debug("Could not send a message", ex);
		}
	}

	private String refusedToScripts() {
		return RedisAnswers.text(
				this.connections
					.run("send a message",
							(connection) -> RedisInspectionScripts.PUBLISH.list(connection,
									RedisKeys.fence(this.prefix, 0), checkedChannel()))
					.get(0));
	}

	/**
	 * Warn once.
	 */
	private void warnIf(String refused) {
		String warning = refusal(refused);
		if (warning != null && this.warned.compareAndSet(false, true)) {
			logger.warn(warning);
		}
	}

	/**
	 * Subscribe. The connection is opened again when it breaks or falls silent; messages
	 * sent meanwhile are gone.
	 * @param address the address
	 * @param onLockAvailable takes the storage keys
	 * @return the subscription
	 */
	Mailbox open(MailboxAddress address, Consumer<String> onLockAvailable) {
		String refused = refusedToScripts();
		if (!refused.isEmpty()) {
			warnIf(refused);
			throw new StoreException(Effect.NONE, true, "Scripts may not send messages (" + refused + ")", null);
		}
		String channel = this.channelPrefix + address.value();
		ExecutorService threads = threads();
		RedisMessageListenerContainer container = new RedisMessageListenerContainer();
		container.setConnectionFactory(this.connections.subscribers());
		container.setTaskExecutor(new SyncTaskExecutor());
		container.setSubscriptionExecutor(threads);
		container.setMaxSubscriptionRegistrationWaitingTime(this.commandTimeout.multipliedBy(2).toMillis());
		container.setRecoveryBackoff(new FixedBackOff(this.commandTimeout.toMillis(), FixedBackOff.UNLIMITED_ATTEMPTS));
		container.afterPropertiesSet();
		container.addMessageListener((message, pattern) -> {
			if (message.getBody().length > 0) {
				onLockAvailable.accept(new String(message.getBody(), StandardCharsets.US_ASCII));
			}
		}, ChannelTopic.of(channel));
		try {
			container.start();
			this.noSubscription = "";
		}
		catch (RuntimeException ex) {
			close(container, threads);
			this.noSubscription = (RedisErrors.serverCode(ex) != null) ? RedisErrors.rootMessage(ex) : "";
			warnIf("");
			throw new StoreException(Effect.NONE, false, "Could not subscribe to Redis (" + ex.getMessage() + ")", ex);
		}
		beatAgain(channel, threads);
		return () -> close(container, threads);
	}

	/**
	 * Each beat has a thread of its own: a thread that waits in between would be one more
	 * in every process.
	 */
	private void beatAgain(String channel, ExecutorService threads) {
		Duration pause = RedisConnections.longestSilence(this.commandTimeout)
			.dividedBy(RedisConnections.BEATS_IN_SILENCE);
		Executor next = (beat) -> {
			if (this.closed || threads.isShutdown()) {
				return;
			}
			try {
				threads.execute(beat);
			}
			catch (Throwable ex) {
				logger.debug("No thread could be started for a beat", ex);
				beatAgain(channel, threads);
			}
		};
		CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS, next).execute(() -> {
			try {
				beat(channel);
			}
			catch (Throwable ex) {
				logger.debug("Could not send a beat to the subscription of this process", ex);
			}
			beatAgain(channel, threads);
		});
	}

	private void beat(String channel) {
		try (RedisConnection connection = this.connections.factory().getConnection()) {
			connection.publish(channel.getBytes(StandardCharsets.US_ASCII), BEAT);
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
	 * End the beats, which need the connections.
	 */
	void close() {
		this.closed = true;
	}

	/**
	 * A beat that is under way and the pause of a container that connects again end by
	 * themselves.
	 */
	private void close(RedisMessageListenerContainer container, ExecutorService threads) {
		try {
			container.destroy();
			threads.shutdown();
			threads.awaitTermination(this.commandTimeout.multipliedBy(2).toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (Exception ex) {
			throw new IllegalStateException("Could not close the subscription", ex);
		}
	}

}
