package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.util.backoff.FixedBackOff;

import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * Messages to waiting processes: one channel for each, {@code dlock:mail:<address>}, over
 * publish and subscribe, which needs no configuration of the server.
 */
final class RedisMailboxes {

	private final DedicatedConnections connections;

	private final String channelPrefix;

	private final Duration commandTimeout;

	RedisMailboxes(DedicatedConnections connections, String prefix, Duration commandTimeout) {
		this.connections = connections;
		this.channelPrefix = prefix + ":mail:";
		this.commandTimeout = commandTimeout;
	}

	/**
	 * Subscribe. The connection is opened again when it breaks; what was sent meanwhile
	 * is gone.
	 * @param address the address
	 * @param onTurn whom to tell
	 * @return the subscription
	 */
	Mailbox open(MailboxAddress address, Consumer<String> onTurn) {
		RedisMessageListenerContainer container = new RedisMessageListenerContainer();
		container.setConnectionFactory(this.connections.factory());
		container.setTaskExecutor(new SyncTaskExecutor());
		container.setSubscriptionExecutor(subscriber());
		container.setMaxSubscriptionRegistrationWaitingTime(this.commandTimeout.multipliedBy(2).toMillis());
		container.setRecoveryBackoff(new FixedBackOff(this.commandTimeout.toMillis(), FixedBackOff.UNLIMITED_ATTEMPTS));
		container.afterPropertiesSet();
		container.addMessageListener(
				(message, pattern) -> onTurn.accept(new String(message.getBody(), StandardCharsets.US_ASCII)),
				ChannelTopic.of(this.channelPrefix + address.value()));
		try {
			container.start();
		}
		catch (RuntimeException ex) {
			close(container);
			throw new StoreException(Effect.NONE, false, "Could not subscribe to Redis (" + ex.getMessage() + ")", ex);
		}
		return () -> close(container);
	}

	private static SimpleAsyncTaskExecutor subscriber() {
		SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("dlock-mailbox-");
		executor.setDaemon(true);
		return executor;
	}

	private static void close(RedisMessageListenerContainer container) {
		try {
			container.destroy();
		}
		catch (Exception ex) {
			throw new IllegalStateException("Could not close the subscription", ex);
		}
	}

}
