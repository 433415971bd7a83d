package io.dlock.fencing.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.fencing.StaleTokenException;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.LettuceFactories;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The writes that a fenced value in a real Redis lets pass, and those that it refuses.
 */
@Timeout(120)
class FencedValuesIntegrationTests {

	/** Of the order of real ones, beyond what a number of Lua holds exactly. */
	private static final long TOKEN = 1_838_344_036_591_874_049L;

	private final String key = "report:" + UUID.randomUUID();

	private LettuceConnectionFactory factory;

	private FencedValues values;

	private final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());

	@BeforeEach
	void connect() {
		RedisServer server = RedisServer.shared();
		this.factory = LettuceFactories.create(server.host(), server.port());
		this.values = new FencedValues(this.factory);
	}

	@AfterEach
	void close() {
		new StringRedisTemplate(this.factory).delete(this.key);
		this.registry.close();
		this.factory.destroy();
	}

	private void refused(long token, long newest) {
		String before = this.values.get(this.key).orElse(null);
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> this.values.set(this.key, "stale", token))
			.satisfies((ex) -> {
				assertThat(ex.resource()).isEqualTo(this.key);
				assertThat(ex.token()).isEqualTo(token);
				assertThat(ex.newestToken()).isEqualTo(newest);
			});
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> this.values.delete(this.key, token));
		assertThat(this.values.get(this.key).orElse(null)).isEqualTo(before);
	}

	@Test
	void r15StaleTokenIsRefused() {
		this.values.set(this.key, "first", TOKEN);
		this.values.set(this.key, "second", TOKEN + 1);
		refused(TOKEN, TOKEN + 1);
		refused(1, TOKEN + 1);
		this.values.set(this.key, "third", TOKEN + 2);
		refused(TOKEN + 1, TOKEN + 2);
		assertThat(this.values.get(this.key)).contains("third");
	}

	@Test
	void tokensAreComparedAsNumbers() {
		this.values.set(this.key, "nine", 9);
		this.values.set(this.key, "ten", 10);
		refused(9, 10);
		this.values.set(this.key, "most", Long.MAX_VALUE);
		refused(Long.MAX_VALUE - 1, Long.MAX_VALUE);
	}

	@Test
	void equalTokenIsAcceptedBecauseAHolderWritesAsOftenAsItWants() {
		this.values.set(this.key, "first", TOKEN);
		this.values.set(this.key, "second", TOKEN);
		assertThat(this.values.get(this.key)).contains("second");
	}

	@Test
	void deletedValueIsGoneAndItsTokenIsNot() {
		this.values.set(this.key, "first", TOKEN);
		this.values.delete(this.key, TOKEN + 1);
		assertThat(this.values.get(this.key)).isEmpty();
		refused(TOKEN, TOKEN + 1);
		this.values.set(this.key, "again", TOKEN + 1);
		assertThat(this.values.get(this.key)).contains("again");
	}

	/**
	 * Read and written without a claim, the stale write in between would be overwritten
	 * although it was accepted.
	 */
	@Test
	void claimedValueIsNotWrittenByAnEarlierHolder() {
		assertThat(this.values.claim(this.key, TOKEN)).isEmpty();
		this.values.set(this.key, "1", TOKEN);
		assertThat(this.values.claim(this.key, TOKEN + 1)).contains("1");
		refused(TOKEN, TOKEN + 1);
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> this.values.claim(this.key, TOKEN));
		this.values.set(this.key, "2", TOKEN + 1);
		this.registry.execute(LockRequest.of(this.key), (handle) -> {
			assertThat(this.values.claim(this.key)).contains("2");
			return null;
		});
	}

	@Test
	void tokenOfTheCurrentLockIsWritten() {
		long token = this.registry.execute(LockRequest.of(this.key), (handle) -> {
			this.values.set(this.key, "value");
			return handle.token();
		});
		refused(token - 1, token);
		this.registry.execute(LockRequest.of(this.key), (handle) -> {
			try (LockHandle permit = this.registry.acquirePermit("export", 2)) {
				this.values.delete(this.key);
				assertThat(permit.isValid()).as("a permit is no lock").isTrue();
			}
			refused(token, handle.token());
			return null;
		});
		assertThat(this.values.get(this.key)).isEmpty();
	}

	@Test
	void i2WritesOfConcurrentHoldersAreInTheOrderOfTheirTokens() throws Exception {
		int writers = 8;
		ExecutorService threads = Executors.newFixedThreadPool(writers);
		try {
			for (int round = 0; round < 100; round++) {
				long base = TOKEN + 100L * round;
				CyclicBarrier barrier = new CyclicBarrier(writers);
				List<Future<?>> writes = new ArrayList<>();
				LongStream.rangeClosed(1, writers).forEach((token) -> writes.add(threads.submit(() -> {
					barrier.await();
					return write(base + token);
				})));
				for (Future<?> write : writes) {
					write.get();
				}
				assertThat(this.values.get(this.key)).contains(Long.toString(base + writers));
			}
		}
		finally {
			threads.shutdown();
		}
	}

	private boolean write(long token) {
		try {
			this.values.set(this.key, Long.toString(token), token);
			return true;
		}
		catch (StaleTokenException ex) {
			return false;
		}
	}

	@Test
	void anyKeyAndAnyValueIsKept() {
		List<String> names = List.of("a", "A", "á", "a\u0301", "a ", "a\r\nFLUSHALL\r\n", "a\u0000", "{a}",
				"\uD83D\uDD12", "' .. redis.call('flushall') .. '", "k".repeat(10_000), "k".repeat(10_000) + " ");
		String value = "value\r\n\u0000 ' \" \uD83D\uDD12";
		StringRedisTemplate redis = new StringRedisTemplate(this.factory);
		try {
			for (int i = 0; i < names.size(); i++) {
				this.values.set(this.key + names.get(i), value + i, TOKEN + names.size() - i);
			}
			for (int i = 0; i < names.size(); i++) {
				assertThat(this.values.get(this.key + names.get(i))).contains(value + i);
			}
			this.values.set(this.key, "", TOKEN);
			assertThat(this.values.get(this.key)).as("an empty value is a value").contains("");
		}
		finally {
			names.forEach((name) -> redis.delete(this.key + name));
		}
	}

	@Test
	void valueCanBeReadByAPerson() {
		this.values.set(this.key, "text", TOKEN);
		assertThat(new StringRedisTemplate(this.factory).opsForHash().entries(this.key))
			.containsOnly(java.util.Map.entry("token", Long.toString(TOKEN)), java.util.Map.entry("value", "text"));
	}

	@Test
	void writeOutsideAnyLockIsAnErrorThatSaysSo() {
		assertThatIllegalStateException().isThrownBy(() -> this.values.set(this.key, "value"))
			.withMessageContaining("no lock")
			.withMessageContaining("@DistributedLocked");
		assertThatIllegalStateException().isThrownBy(() -> this.values.delete(this.key));
		assertThatIllegalStateException().isThrownBy(() -> this.values.claim(this.key));
		assertThat(this.values.get(this.key)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " " })
	void senselessArgumentsAreRefused(@Nullable String blank) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.values.set(blank, "value", TOKEN));
		assertThatIllegalArgumentException().isThrownBy(() -> this.values.get(blank));
		assertThatIllegalArgumentException().isThrownBy(() -> this.values.set(null, "value", TOKEN));
		assertThatIllegalArgumentException().isThrownBy(() -> this.values.set(this.key, null, TOKEN))
			.withMessageContaining("delete");
		assertThatIllegalArgumentException().isThrownBy(() -> this.values.set(this.key, "value", 0));
	}

	@Test
	void foreignValueUnderTheKeyIsNotOverwritten() {
		StringRedisTemplate redis = new StringRedisTemplate(this.factory);
		redis.opsForValue().set(this.key, "something else");
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.values.set(this.key, "value", TOKEN))
			.havingRootCause()
			.withMessageContaining("WRONGTYPE");
		assertThat(redis.opsForValue().get(this.key)).isEqualTo("something else");
	}

	/**
	 * There the answer comes later, and a refusal would be taken for a success.
	 */
	@Test
	void writeInsideMultiIsAnErrorThatSaysSo() {
		new StringRedisTemplate(this.factory).execute(new SessionCallback<@Nullable Object>() {

			@Override
			public <K, V> @Nullable Object execute(RedisOperations<K, V> operations) {
				operations.multi();
				assertThatIllegalStateException()
					.isThrownBy(() -> FencedValuesIntegrationTests.this.values
						.set(FencedValuesIntegrationTests.this.key, "value", TOKEN))
					.withMessageContaining("MULTI");
				operations.discard();
				return null;
			}

		});
		assertThat(this.values.get(this.key)).isEmpty();
	}

	@Test
	void scriptIsSentAgainAfterTheServerForgotIt() {
		this.values.set(this.key, "first", TOKEN);
		try (RedisConnection connection = this.factory.getConnection()) {
			connection.scriptingCommands().scriptFlush();
		}
		this.values.set(this.key, "second", TOKEN + 1);
		refused(TOKEN, TOKEN + 1);
	}

}
