package io.dlock.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.CRC32;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockHandle;
import io.dlock.LockQuarantinedException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.console.StoreReport;
import io.dlock.store.Quarantine;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.LettuceFactories;
import io.dlock.test.Patience;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Requests to a Redis that has begun a quarantine, and locks that it knows.
 */
@Timeout(240)
class QuarantineIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(5);

	private final LockSettings settings = LockSettings.builder()
		.lease(LEASE)
		.longestLease(LEASE)
		.waitTime(Patience.EVENTUALLY)
		.shutdownTimeout(Duration.ZERO)
		.build();

	private final RedisServer server = RedisServer.start();

	private final LettuceConnectionFactory factory = LettuceFactories.create(this.server.host(), this.server.port());

	private RedisLockStore store;

	private LeaseLockRegistry registry;

	@BeforeEach
	void start() {
		this.store = Patience.connected(new RedisLockStore(this.factory,
				RedisLockStoreSettings.defaults()
					.withCommandTimeout(Patience.COMMAND)
					.withQuarantine(new Quarantine(LEASE, Duration.ZERO))));
		this.registry = new LeaseLockRegistry(this.store, this.settings);
		Awaitility.await()
			.until(() -> call("EVAL", "return tostring(#redis.call('KEYS', '*:era'))", "0").equals("1024"));
	}

	@AfterEach
	void stop() {
		TestContexts.dropHandles();
		if (this.registry != null) {
			this.registry.close();
			this.store.close();
		}
		this.factory.destroy();
		this.server.close();
	}

	private String call(String command, String... arguments) {
		try (RedisConnection connection = this.factory.getConnection()) {
			Object answer = connection.execute(command,
					Stream.of(arguments)
						.map((argument) -> argument.getBytes(StandardCharsets.UTF_8))
						.toArray(byte[][]::new));
			return (answer instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8)
					: String.valueOf(answer);
		}
	}

	private void failOver() {
		for (int bucket = 0; bucket < 1024; bucket++) {
			call("HMSET", "dlock:{b%03d}:era".formatted(bucket), "era", "another");
		}
	}

	private long scripts() {
		Matcher calls = Pattern.compile("cmdstat_evalsha:calls=(\\d+)").matcher(call("INFO", "commandstats"));
		return calls.find() ? Long.parseLong(calls.group(1)) : 0;
	}

	@Test
	void quarantineIsWaitedOutWithoutPolls() {
		long before = scripts();
		LockHandle handle = this.registry.acquire("a");
		assertThat(handle.isValid()).isTrue();
		handle.release();
		assertThat(scripts() - before).isLessThan(12);
	}

	@Test
	void quarantineIsWaitedOutWithoutThread() {
		failOver();
		CompletableFuture<LockHandle> handle = this.registry.acquireAsync(LockRequest.of("a"));
		assertThat(handle).isNotDone();
		assertThat(handle).succeedsWithin(Patience.EVENTUALLY).satisfies(LockHandle::release);
	}

	@Test
	void requestThatCannotWaitForItsEndIsToldSo() {
		LockRequest once = LockRequest.builder("a").waitTime(Duration.ZERO).build();
		failOver();
		assertThatExceptionOfType(LockQuarantinedException.class).isThrownBy(() -> this.registry.acquire(once))
			.withMessageContaining("has failed over or restarted, and grants no lock for another")
			.satisfies((ex) -> assertThat(ex.isOutage()).isFalse())
			.satisfies((ex) -> assertThat(ex.remaining()).isPositive().isLessThanOrEqualTo(LEASE.plusSeconds(1)));
		assertThatExceptionOfType(LockQuarantinedException.class)
			.isThrownBy(() -> this.registry.tryAcquire("a", Duration.ofMillis(10)));
		assertThat(this.registry.counts().quarantine()).isPositive();
		StoreReport report = this.registry.console().check();
		assertThat(report.failure()).isNull();
		assertThat(report.warnings()).anySatisfy((warning) -> assertThat(warning).contains("grants no lock"));
	}

	@Test
	void knownLocksAreRenewedAndUnknownOnesAreLost() {
		LockHandle known = this.registry.acquire("known");
		LockHandle unknown = this.registry.acquire("unknown");
		call("DEL", "dlock:{b%03d}:lock:unknown".formatted(bucket("unknown")));
		failOver();
		assertThatExceptionOfType(LockQuarantinedException.class)
			.isThrownBy(() -> this.registry.tryAcquire("other", Duration.ZERO));
		Awaitility.await().until(() -> !unknown.isValid());
		LockHandle other = this.registry.acquire("other");
		assertThat(known.isValid()).isTrue();
		known.release();
		other.release();
	}

	private static int bucket(String storageKey) {
		CRC32 crc = new CRC32();
		crc.update(storageKey.getBytes(StandardCharsets.US_ASCII));
		return (int) (crc.getValue() % 1024);
	}

}
