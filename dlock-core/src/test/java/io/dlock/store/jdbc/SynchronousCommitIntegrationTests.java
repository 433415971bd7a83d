package io.dlock.store.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Commits of a PostgreSQL with a synchronous standby.
 */
@Timeout(240)
class SynchronousCommitIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(100);

	private final PostgresServer primary = PostgresServer.start();

	private final HikariDataSource application = Pools.create(this.primary);

	private PostgresServer standby;

	@BeforeEach
	void startStandby() throws SQLException {
		Pools.createLockTable(this.application, "postgresql");
		this.standby = this.primary.startStandby(this.primary.port(), Map.of());
		JdbcClient client = JdbcClient.create(this.application);
		client.sql("ALTER SYSTEM SET synchronous_standby_names = '*'").update();
		client.sql("SELECT pg_reload_conf()").query().listOfRows();
		Awaitility.await()
			.until(() -> client.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
				.query(Integer.class)
				.single() == 1);
	}

	@AfterEach
	void stop() {
		this.standby.close();
		this.application.close();
		this.primary.close();
	}

	private JdbcLockStore store(SynchronousCommit level, Duration timeout) {
		return Patience.connected(new JdbcLockStore(this.application,
				JdbcLockStoreSettings.defaults().withCommandTimeout(timeout).withSynchronousCommit(level)));
	}

	private static AcquireCommand command(String key) {
		return new AcquireCommand(key, "a", LEASE, "holder", "");
	}

	@Test
	void lockThatIsGrantedIsSeenOnTheStandby() {
		try (JdbcLockStore store = store(SynchronousCommit.REMOTE_APPLY, Patience.COMMAND);
				HikariDataSource reader = Pools.create(this.standby)) {
			JdbcClient client = JdbcClient.create(reader);
			for (int i = 0; i < 30; i++) {
				assertThat(store.acquire(command("key" + i))).isInstanceOf(Granted.class);
				assertThat(client.sql("SELECT owner FROM dlock_lock WHERE lock_key = ?")
					.param("key" + i)
					.query(String.class)
					.single()).isEqualTo("a");
			}
		}
	}

	/**
	 * A release waits for none.
	 */
	@Test
	void lockIsNotGrantedWithoutTheStandbyUnlessLocal() {
		try (JdbcLockStore local = store(SynchronousCommit.LOCAL, Patience.COMMAND);
				JdbcLockStore patient = store(SynchronousCommit.REMOTE_WRITE, Patience.COMMAND);
				JdbcLockStore remote = store(SynchronousCommit.REMOTE_WRITE, Duration.ofSeconds(2))) {
			assertThat(patient.acquire(command("held"))).isInstanceOf(Granted.class);
			this.standby.pause();
			assertThat(local.acquire(command("local"))).isInstanceOf(Granted.class);
			// without an effect if the machine is too busy for a connection
			MachineWatch.repeatIfLate(() -> assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> remote.acquire(command("remote")))
				.satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN))
				.satisfies((ex) -> assertThat(ex.isPermanent()).isFalse()));
			assertThat(remote.renew(List.of(new RenewCommand("held", "a", LEASE))))
				.containsExactly(RenewResult.UNKNOWN);
			assertThat(local.release("local", "a")).isTrue();
			this.standby.resume();
			Awaitility.await()
				.ignoreException(StoreException.class)
				.until(() -> remote.acquire(command("remote")) instanceof Granted);
		}
	}

}
