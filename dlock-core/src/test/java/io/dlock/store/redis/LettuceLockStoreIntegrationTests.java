package io.dlock.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

import static org.assertj.core.api.Assertions.assertThat;

class LettuceLockStoreIntegrationTests extends AbstractRedisLockStoreTests {

	@Override
	Duration longestCall() {
		return TIMEOUT.multipliedBy(7).dividedBy(4);
	}

	/**
	 * A client that sends again what was not answered does so whenever it is connected
	 * again: when nobody waits for it and its revocation may be over. (Two requests,
	 * because the first in its queue is what it drops in any case.)
	 */
	@Test
	void r50AcquireOfAnInterruptedThreadIsNotSentAgain() throws Exception {
		granted(acquire("warm-up", LEASE));
		assertThat(store().release(key(), "warm-up")).isTrue();
		proxy().blackHole(true);
		interruptedAcquire(key() + "/first");
		interruptedAcquire(key());
		proxy().cutAll();
		proxy().blackHole(false);
		Awaitility.await().ignoreException(StoreException.class).until(() -> {
			granted(acquire("b", LEASE));
			return true;
		});
	}

	private void interruptedAcquire(String key) {
		CompletableFuture<StoreException> failure = new CompletableFuture<>();
		AtomicBoolean flag = new AtomicBoolean();
		Thread thread = new Thread(() -> {
			try {
				store().acquire(new AcquireCommand(key, "a", LEASE, "holder", ""));
			}
			catch (StoreException ex) {
				flag.set(Thread.currentThread().isInterrupted());
				failure.complete(ex);
			}
		});
		thread.start();
		thread.interrupt();
		assertThat(failure).succeedsWithin(Duration.ofSeconds(10))
			.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN))
			.satisfies((ex) -> assertThat(ex.isLasting()).isFalse());
		assertThat(flag).as("the flag is kept").isTrue();
	}

	@Override
	RedisConnectionFactory createConnectionFactory(String host, int port) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(host, port);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	@Override
	RedisConnectionFactory createClusterConnectionFactory(String host, int port) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisClusterConfiguration(List.of(host + ":" + port)));
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	@Override
	void destroy(RedisConnectionFactory factory) {
		((LettuceConnectionFactory) factory).destroy();
	}

}
