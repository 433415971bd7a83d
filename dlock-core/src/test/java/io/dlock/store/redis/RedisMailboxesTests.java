package io.dlock.store.redis;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.Subscription;

import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreException;
import io.dlock.store.redis.connection.RedisConnections;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * A subscription of a client whose calls block, as those of Jedis do.
 */
class RedisMailboxesTests {

	private final CountDownLatch ended = new CountDownLatch(1);

	private final RedisConnections connections = mock(RedisConnections.class);

	private <T> T client(Class<T> type) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> switch (method.getName()) {
					case "getConnection" -> client(RedisConnection.class);
					case "getSubscription" -> client(Subscription.class);
					case "subscribe" -> {
						this.ended.await();
						yield null;
					}
					case "close", "unsubscribe" -> {
						this.ended.countDown();
						yield null;
					}
					default -> (method.getReturnType() == boolean.class) ? false : null;
				}));
	}

	@AfterEach
	void end() {
		this.ended.countDown();
	}

	/**
	 * It would receive messages that are for the next attempt.
	 */
	@Test
	void subscriptionThatIsNotThereInTimeIsEnded() {
		given(this.connections.subscribers()).willReturn(client(RedisConnectionFactory.class));
		given(this.connections.run(any(), any())).willReturn(List.of(new byte[0]));
		RedisMailboxes mailboxes = new RedisMailboxes(this.connections, "dlock", Duration.ofMillis(50));
		assertThatExceptionOfType(StoreException.class)
			.isThrownBy(() -> mailboxes.open(MailboxAddress.create(Duration.ofSeconds(9)), (key) -> {
			}));
		Awaitility.await().until(() -> this.ended.getCount() == 0);
	}

}
