package io.dlock.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;

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
 */
final class RedisMailboxes {

	private static final Log logger = LogFactory.getLog(RedisMailboxes.class);

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
	 * @param onLockAvailable takes the storage keys
	 * @return the subscription, or {@code null} if the client can have none
	 */
	@Nullable Mailbox open(MailboxAddress address, Consumer<String> onLockAvailable) {
		RedisConnectionFactory subscribers = this.connections.subscribers();
		if (subscribers == null) {
			return null;
		}
		String refused = refusedToScripts();
		if (!refused.isEmpty()) {
			warnIf(refused);
			throw new StoreException(Effect.NONE, true, "Scripts may not send messages (" + refused + ")", null);
		}
		RedisSubscription subscription = new RedisSubscription(this.connections, subscribers,
				this.channelPrefix + address.value(), this.commandTimeout, () -> this.closed, onLockAvailable);
		try {
			subscription.open();
			this.noSubscription = "";
			return subscription;
		}
		catch (RuntimeException ex) {
			subscription.close();
			this.noSubscription = RedisErrors.translate("subscribe", ex).isPermanent() ? RedisErrors.rootMessage(ex)
					: "";
			warnIf("");
			throw new StoreException(Effect.NONE, false, "Could not subscribe to Redis (" + ex.getMessage() + ")", ex);
		}
	}

	/**
	 * End the beats, which need the connections.
	 */
	void close() {
		this.closed = true;
	}

}
