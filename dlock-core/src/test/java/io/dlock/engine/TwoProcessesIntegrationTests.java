package io.dlock.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.dlock.LockHandle;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.store.LockStore;
import io.dlock.test.JavaProcess;
import io.dlock.test.MachineWatch;
import io.dlock.test.MariaDbServer;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;
import io.dlock.test.Timing;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An instance beside another one that dies, stands still, or works.
 */
@Timeout(120)
class TwoProcessesIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(4);

	private final String key = "process/" + UUID.randomUUID();

	static List<String> stores() {
		RedisServer redis = RedisServer.shared();
		PostgresServer postgres = PostgresServer.shared();
		MariaDbServer mariaDb = MariaDbServer.shared();
		return List.of("redis:" + redis.host() + ":" + redis.port(),
				database(postgres.jdbcUrl(), postgres.username(), postgres.password(), "postgresql"),
				database(mariaDb.mariaDbUrl(), mariaDb.username(), mariaDb.password(), "mysql"));
	}

	private static String database(String url, String username, String password, String platform) {
		Pools.createLockTable(new DriverManagerDataSource(url, username, password), platform);
		return url + " " + username + " " + password;
	}

	private LockRequest patient() {
		return LockRequest.builder(this.key).waitTime(Duration.ofSeconds(60)).build();
	}

	@ParameterizedTest
	@MethodSource("stores")
	void holderInAnotherProcessExcludesUntilItReleases(String address) throws Exception {
		Duration lease = LEASE.plusSeconds(2);
		LockSettings settings = LockSettings.builder().commandTimeout(LEASE).build();
		try (LockStore store = HolderProcess.store(address, Patience.COMMAND);
				LeaseLockRegistry registry = new LeaseLockRegistry(store, settings);
				JavaProcess other = HolderProcess.start(address, this.key, lease)) {
			long token = Long.parseLong(other.await("HELD"));
			Instant until = registry.find(this.key).orElseThrow().until();
			Awaitility.await()
				.until(() -> registry.find(this.key).orElseThrow().until().isAfter(until.plus(lease.dividedBy(6))));
			Awaitility.await().until(() -> Instant.now().isAfter(until));
			assertThat(registry.tryAcquire(this.key, Duration.ofMillis(100))).as("it is renewed over there").isEmpty();
			assertThat(registry.find(this.key)).hasValueSatisfying((info) -> {
				assertThat(info.token()).isEqualTo(token);
				assertThat(info.holder()).contains("pid-").contains("[main]");
			});
			other.say("release");
			other.await("RELEASED");
			try (LockHandle handle = registry.acquire(LockRequest.builder(this.key).waitTime(Duration.ZERO).build())) {
				assertThat(handle.token()).isGreaterThan(token);
			}
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	@Timing
	void i8LockOfAKilledProcessIsHadNoLaterThanALeaseAnd250Milliseconds(String address) throws Exception {
		Duration limit = LEASE.plusMillis(250);
		MachineWatch.repeatIfLate(() -> assertThat(timeUntilTheLockOfAKilledProcessIsHad(address)).isLessThan(limit));
	}

	private Duration timeUntilTheLockOfAKilledProcessIsHad(String address) throws Exception {
		LockSettings settings = LockSettings.builder().lease(LEASE).commandTimeout(LEASE.dividedBy(4)).build();
		try (LockStore store = HolderProcess.store(address, Patience.COMMAND);
				LeaseLockRegistry registry = new LeaseLockRegistry(store, settings);
				JavaProcess other = HolderProcess.start(address, this.key, LEASE);
				MachineWatch machine = MachineWatch.start()) {
			long token = Long.parseLong(other.await("HELD"));
			assertThat(registry.tryAcquire(this.key, Duration.ofMillis(100))).isEmpty();
			other.kill();
			CompletableFuture<LockHandle> had = new CompletableFuture<>();
			Duration time = machine.time(() -> had.complete(registry.acquire(patient())));
			try (LockHandle handle = had.join()) {
				assertThat(handle.token()).isGreaterThan(token);
			}
			return time;
		}
	}

	@ParameterizedTest
	@MethodSource("stores")
	void p3ProcessThatStoodStillLearnsOfItsLossBeforeItGoesOn(String address) throws Exception {
		LockSettings settings = LockSettings.builder().lease(LEASE).commandTimeout(LEASE.dividedBy(4)).build();
		try (LockStore store = HolderProcess.store(address, Patience.COMMAND);
				LeaseLockRegistry registry = new LeaseLockRegistry(store, settings);
				JavaProcess other = HolderProcess.start(address, this.key, LEASE)) {
			long token = Long.parseLong(other.await("HELD"));
			other.signal("STOP");
			try (LockHandle successor = registry.acquire(patient())) {
				assertThat(successor.token()).isGreaterThan(token);
				other.say("release");
				other.signal("CONT");
				assertThat(other.await("VALID")).as("the first thing it sees").isEqualTo("false");
				assertThat(Long.parseLong(other.await("LOST"))).isEqualTo(token);
				successor.assertHeld();
				assertThat(registry.find(this.key))
					.hasValueSatisfying((info) -> assertThat(info.token()).as("B11, B12").isEqualTo(successor.token()));
			}
		}
	}

}
