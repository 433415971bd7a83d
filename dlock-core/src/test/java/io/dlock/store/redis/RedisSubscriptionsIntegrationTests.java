package io.dlock.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreException;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;
import io.dlock.test.TcpProxy;

/**
 * Subscriptions on a network that breaks their handshakes. Which of them meets the bad
 * moment is a matter of chance; of twelve, one or more did within five rounds.
 */
class RedisSubscriptionsIntegrationTests {

	private static final int PROCESSES = 12;

	private static final int ROUNDS = 8;

	private static final int FAULTS_OF_A_ROUND = 25;

	private final Random random = new Random(1);

	private final RedisServer redis = RedisServer.start();

	private final TcpProxy proxy = TcpProxy.to(this.redis.host(), this.redis.port());

	private final RedisClient client = RedisClient.create("redis://" + this.redis.host() + ":" + this.redis.port());

	private final RedisCommands<String, String> commands = this.client.connect().sync();

	private final List<AutoCloseable> closed = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable each : this.closed) {
			each.close();
		}
		this.client.shutdown(0, 1, TimeUnit.SECONDS);
		this.proxy.close();
		this.redis.close();
	}

	private void subscribe() {
		LettuceConnectionFactory factory = new LettuceConnectionFactory("127.0.0.1", this.proxy.port());
		factory.afterPropertiesSet();
		factory.start();
		RedisLockStore store = new RedisLockStore(factory, new RedisLockStoreSettings("dlock", Duration.ofMillis(100)));
		Mailbox mailbox = Awaitility.await()
			.ignoreExceptionsInstanceOf(StoreException.class)
			.until(() -> store.openMailbox(MailboxAddress.create(Duration.ofMillis(50)), (message) -> {
			}), (opened) -> opened != null);
		this.closed.add(mailbox);
		this.closed.add(store);
		this.closed.add(factory::destroy);
	}

	private void disturb() {
		switch (this.random.nextInt(6)) {
			case 0 -> this.proxy.cutAll();
			case 1 -> this.commands.clientPause(60 + this.random.nextInt(200));
			case 2 -> this.commands.clientKill(KillArgs.Builder.typePubsub());
			case 3 -> this.proxy.delayReplies(Duration.ofMillis(this.random.nextInt(60)));
			case 4 -> this.proxy.cutRepliesAfter(1 + this.random.nextInt(400));
			default -> this.proxy.cutRequestsAfter(1 + this.random.nextInt(300));
		}
	}

	@Test
	void d6SubscriptionsAreBackWheneverTheirHandshakesBreak() throws InterruptedException {
		for (int i = 0; i < PROCESSES; i++) {
			subscribe();
		}
		for (int round = 0; round < ROUNDS; round++) {
			for (int i = 0; i < FAULTS_OF_A_ROUND; i++) {
				disturb();
				// the time between two faults is a part of them
				Thread.sleep(this.random.nextInt(160));
			}
			this.proxy.heal();
			Awaitility.await()
				.atMost(Patience.EVENTUALLY.multipliedBy(3))
				.until(() -> this.commands.pubsubChannels("dlock:mail:*").size() == PROCESSES);
		}
	}

}
