package io.dlock.metrics;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.dlock.LockHandle;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockRequestBuilder;
import io.dlock.LockSettings;
import io.dlock.LockStoreException;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.store.LockStore;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.store.redis.RedisLockStore;
import io.dlock.store.redis.RedisLockStoreSettings;
import io.dlock.test.LettuceFactories;
import io.dlock.test.LocalServer;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Meters of locks on real servers: two instances, locks that are taken away, and a server
 * that is gone.
 */
@Timeout(120)
class LockMetersIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(5);

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(1);

	private final String key = "meters/" + UUID.randomUUID();

	static Stream<String> servers() {
		return Stream.of("redis", "postgres");
	}

	private static LocalServer shared(String type) {
		return type.equals("redis") ? RedisServer.shared() : PostgresServer.shared();
	}

	private static LocalServer own(String type) {
		return type.equals("redis") ? RedisServer.start() : PostgresServer.start();
	}

	private static LockStore store(LocalServer server, Duration commandTimeout) {
		if (server instanceof RedisServer redis) {
			LettuceConnectionFactory factory = LettuceFactories.create(redis.host(), redis.port());
			return new RedisLockStore(factory, RedisLockStoreSettings.defaults().withCommandTimeout(commandTimeout));
		}
		HikariDataSource pool = Pools.create((PostgresServer) server);
		Pools.createLockTable(pool, "postgresql");
		return new JdbcLockStore(pool, JdbcLockStoreSettings.defaults().withCommandTimeout(commandTimeout));
	}

	private LockRequestBuilder request() {
		return LockRequest.builder(this.key).name("orders").waitTime(Duration.ofSeconds(20));
	}

	@ParameterizedTest
	@MethodSource("servers")
	void waitAndHoldAndBusyAreThoseOfTwoInstances(String type) {
		try (LocalServer server = shared(type);
				Instance here = new Instance(server);
				Instance there = new Instance(server)) {
			LockHandle first = here.registry.acquire(request().build());
			assertThat(there.registry.tryAcquire(request().waitTime(Duration.ofMillis(100)).build())).isEmpty();
			Timer busy = there.timer("dlock.wait", "busy");
			assertThat(busy.count()).isOne();
			assertThat(busy.totalTime(TimeUnit.MILLISECONDS)).isGreaterThanOrEqualTo(100);
			first.release();
			there.registry.acquire(request().build()).release();
			assertThat(there.timer("dlock.wait", "acquired").count()).isOne();
			assertThat(here.timer("dlock.hold", "released").totalTime(TimeUnit.MILLISECONDS))
				.isGreaterThanOrEqualTo(100);
			assertThat(here.meters.get("dlock.remaining").timer().max(TimeUnit.MILLISECONDS)).isBetween(1.0, 5000.0);
			assertThat(here.count("dlock.lost", "reason", "expired")).isZero();
		}
	}

	@ParameterizedTest
	@MethodSource("servers")
	void lockThatIsTakenAwayInTheStoreIsLost(String type) {
		try (LocalServer server = shared(type); Instance here = new Instance(server)) {
			LockHandle handle = here.registry.acquireAsync(request().build()).join();
			Awaitility.await().until(() -> here.count("dlock.renewals", "outcome", "renewed") > 0);
			here.store.release(this.key, here.registry.ownerOf(handle).orElseThrow());
			Awaitility.await().until(() -> here.count("dlock.lost", "reason", "refused") == 1);
			assertThat(here.timer("dlock.hold", "lost").count()).isOne();
			assertThat(here.timer("dlock.hold", "released").count()).isZero();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
			assertThat(here.meters.get("dlock.held").tags("name", "orders", "kind", "exclusive").gauge().value())
				.isZero();
		}
	}

	@ParameterizedTest
	@MethodSource("servers")
	void serverThatIsGoneIsAFailureAndThenALoss(String type) {
		try (LocalServer server = own(type); Instance here = new Instance(server, COMMAND_TIMEOUT)) {
			LockHandle handle = here.registry.acquireAsync(request().build()).join();
			server.kill();
			LockRequestBuilder impatient = LockRequest.builder("other").name("orders").waitTime(Duration.ZERO);
			assertThatExceptionOfType(LockStoreException.class)
				.isThrownBy(() -> here.registry.acquire(impatient.build()));
			assertThatExceptionOfType(LockStoreException.class)
				.isThrownBy(() -> here.registry.acquire(impatient.failOpen(true).build()));
			assertThat(here.count("dlock.store.failures", "fail.open", "false")).isOne();
			assertThat(here.count("dlock.store.failures", "fail.open", "true")).isOne();
			assertThat(here.timer("dlock.wait", "failed").count()).isEqualTo(2);
			Awaitility.await().until(() -> here.count("dlock.lost", "reason", "expired") == 1);
			assertThat(here.count("dlock.renewals", "outcome", "failed")).isPositive();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
		}
	}

	/**
	 * An instance of the application.
	 */
	private static final class Instance implements AutoCloseable {

		private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

		private final LockStore store;

		private final LeaseLockRegistry registry;

		private Instance(LocalServer server) {
			this(server, Patience.COMMAND);
		}

		private Instance(LocalServer server, Duration commandTimeout) {
			this.store = store(server, commandTimeout);
			this.registry = new LeaseLockRegistry(this.store,
					LockSettings.builder()
						.lease(LEASE)
						.commandTimeout(COMMAND_TIMEOUT)
						.shutdownTimeout(Duration.ZERO)
						.build());
			LockMeters lockMeters = new LockMeters(this.registry.counts()::byName);
			lockMeters.bindTo(this.meters);
			this.registry.addListener(lockMeters);
		}

		private Timer timer(String name, String outcome) {
			return this.meters.get(name).tags("name", "orders", "outcome", outcome).timer();
		}

		/** Zero before the first event of the name. */
		private double count(String name, String tag, String value) {
			return this.meters.find(name)
				.tags("name", "orders", tag, value)
				.counters()
				.stream()
				.mapToDouble((counter) -> counter.count())
				.sum();
		}

		@Override
		public void close() {
			this.registry.close();
			this.store.close();
		}

	}

}
