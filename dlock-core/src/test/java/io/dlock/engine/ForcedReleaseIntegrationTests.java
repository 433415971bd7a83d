package io.dlock.engine;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.dlock.LockHandle;
import io.dlock.LockInfo;
import io.dlock.LockLostException;
import io.dlock.LockRequest;
import io.dlock.LockSettings;
import io.dlock.console.ForcedRelease;
import io.dlock.store.LockStore;
import io.dlock.test.MariaDbServer;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.test.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An operator of one process takes a lock away from another, on real servers.
 */
@Timeout(120)
class ForcedReleaseIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(12);

	private final LockSettings settings = LockSettings.builder()
		.lease(LEASE)
		.commandTimeout(Duration.ofSeconds(3))
		.build();

	private final String key = "stuck " + UUID.randomUUID();

	@Test
	void r55LockIsTakenAwayOnRedis() throws Exception {
		RedisServer server = RedisServer.shared();
		lockIsTakenAway("redis:" + server.host() + ":" + server.port());
	}

	@Test
	void r55LockIsTakenAwayOnPostgreSql() throws Exception {
		PostgresServer server = PostgresServer.shared();
		database(server.jdbcUrl(), server.username(), server.password(), "postgresql");
	}

	@Test
	void r55LockIsTakenAwayOnMariaDb() throws Exception {
		MariaDbServer server = MariaDbServer.shared();
		database(server.mariaDbUrl(), server.username(), server.password(), "mysql");
	}

	private void database(String url, String username, String password, String schema) throws Exception {
		Pools.createLockTable(new DriverManagerDataSource(url, username, password), schema);
		lockIsTakenAway(url + " " + username + " " + password);
	}

	private void lockIsTakenAway(String address) throws Exception {
		LockRequest request = LockRequest.builder(this.key).waitTime(LockRequest.FOREVER).reason("a report").build();
		try (LockStore stuckStore = HolderProcess.store(address, Patience.COMMAND);
				LockStore store = HolderProcess.store(address, Patience.COMMAND);
				LeaseLockRegistry stuck = new LeaseLockRegistry(stuckStore,
						this.settings.toBuilder().instance("stuck instance").build());
				LeaseLockRegistry operator = new LeaseLockRegistry(store, this.settings)) {
			LockHandle handle = stuck.acquireAsync(request).get();
			CompletableFuture<LockHandle> lost = new CompletableFuture<>();
			handle.onLost(lost::complete);
			CompletableFuture<LockHandle> next = operator.acquireAsync(request);
			Awaitility.await().until(() -> operator.counts().waiting() == 1);
			LockInfo seen = operator.console()
				.list(10_000)
				.locks()
				.stream()
				.filter((lock) -> lock.key().equals(this.key.replace(" ", "%20")))
				.findFirst()
				.orElseThrow();
			assertThat(seen.holder()).startsWith("stuck instance");
			assertThat(seen.reason()).isEqualTo("a report");
			assertThat(seen.token()).isEqualTo(handle.token());
			assertThat(operator.console().forceRelease(seen.key(), seen.token() - 1024))
				.isEqualTo(ForcedRelease.OTHER_TOKEN);
			handle.assertHeld();
			assertThat(operator.console().forceRelease(seen.key(), seen.token())).isEqualTo(ForcedRelease.RELEASED);
			assertThat(next).as("who waits is told").succeedsWithin(Patience.EVENTUALLY);
			assertThat(next.get().token()).isGreaterThan(handle.token());
			assertThat(lost).as("at its next renewal").succeedsWithin(LEASE);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::release);
			assertThat(operator.console().forceRelease(seen.key(), seen.token())).isEqualTo(ForcedRelease.OTHER_TOKEN);
			next.get().release();
			assertThat(operator.console().forceRelease(seen.key(), seen.token())).isEqualTo(ForcedRelease.NOT_HELD);
		}
	}

}
