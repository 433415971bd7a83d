package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.RenewResult;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * More calls at once than the own connections carry: a process that knows that the
 * database answers must not believe that it failed.
 */
class CongestedConnectionsIntegrationTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(4);

	private final PostgresServer server = PostgresServer.shared();

	private final TcpProxy proxy = TcpProxy.to(this.server.host(), this.server.port());

	private final HikariDataSource application = Pools.create(this.server.jdbcUrl(this.proxy.port()),
			this.server.username(), this.server.password());

	private final HikariDataSource admin = Pools.create(this.server);

	private final ExecutorService callers = Executors.newCachedThreadPool();

	private final String key = "congested/" + UUID.randomUUID();

	@BeforeEach
	void createTable() {
		Pools.createLockTable(this.admin, "postgresql");
	}

	@AfterEach
	void disconnect() {
		this.callers.shutdownNow();
		this.application.close();
		this.admin.close();
		this.proxy.close();
	}

	/**
	 * A call for a row that another session has locked keeps the only slot for longer
	 * than half of the command timeout, which was once the longest wait for a slot.
	 */
	@Test
	void a5SlotIsWaitedForAsLongAsACallMayTake() throws Exception {
		try (JdbcLockStore store = store(TIMEOUT); Connection blocker = lockRow(store)) {
			// on a busy machine the server may be too late
			MachineWatch.repeatIfLate(() -> {
				Future<StoreException> blocked = this.callers.submit(() -> attempt(store, this.key));
				awaitBlocked(1);
				assertThat(attempt(store, this.key + "/other")).isNull();
				assertThat(blocked.get()).as("ended by the server")
					.returns(Effect.NONE, StoreException::effect)
					.hasMessageContaining("The database failed to");
			});
			blocker.rollback();
		}
	}

	@Test
	void a5CallThatFindsNoSlotWhileTheDatabaseAnswersIsCongestedAndNotFailed() throws Exception {
		try (JdbcLockStore store = store(TIMEOUT); Connection blocker = lockRow(store)) {
			MachineWatch.repeatIfLate(() -> assertCongested(failuresOfFourCalls(store)));
			blocker.rollback();
			MachineWatch.repeatIfLate(() -> assertThat(attempt(store, this.key)).isNull());
		}
	}

	private List<StoreException> failuresOfFourCalls(JdbcLockStore store) throws Exception {
		List<Future<StoreException>> blocked = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			blocked.add(this.callers.submit((Callable<StoreException>) () -> attempt(store, this.key)));
		}
		List<StoreException> failures = new ArrayList<>();
		for (Future<StoreException> call : blocked) {
			failures.add(call.get());
		}
		return failures;
	}

	private static void assertCongested(List<StoreException> failures) {
		assertThat(failures).doesNotContainNull()
			.allSatisfy((failure) -> assertThat(failure).returns(Effect.NONE, StoreException::effect))
			.anySatisfy((failure) -> assertThat(failure).isInstanceOf(StoreCongestedException.class));
	}

	@Test
	void r32RenewalHasAConnectionAlthoughOtherCallsWaitForTheirs() throws Exception {
		try (JdbcLockStore store = store(Patience.COMMAND); Connection blocker = lockRow(store)) {
			assertThat(acquire(store, this.key + "/other")).isInstanceOf(Granted.class);
			Future<StoreException> blocked = this.callers.submit(() -> attempt(store, this.key));
			awaitBlocked(1);
			assertThat(store.renew(List.of(new RenewCommand(this.key + "/other", "a", Duration.ofMinutes(1)))))
				.containsExactly(RenewResult.RENEWED);
			assertThat(blocked).isNotDone();
			blocker.rollback();
			assertThat(blocked.get()).isNull();
		}
	}

	@Test
	void a5BatchThatFindsNoSlotIsCongestedAndNotUnanswered() throws Exception {
		AcquireCommand command = new AcquireCommand(this.key, "b", Duration.ofMinutes(1), "", "");
		try (JdbcLockStore store = store(TIMEOUT); Connection blocker = lockRow(store)) {
			MachineWatch.repeatIfLate(() -> assertCongested(failuresOfFourBatches(store, command)));
			blocker.rollback();
		}
	}

	private List<StoreException> failuresOfFourBatches(JdbcLockStore store, AcquireCommand command) throws Exception {
		List<Future<List<AcquireResult>>> batches = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			batches.add(this.callers.submit(() -> store.acquireAll(List.of(command))));
		}
		List<StoreException> failures = new ArrayList<>();
		for (Future<List<AcquireResult>> batch : batches) {
			assertThat(batch.get()).singleElement()
				.isInstanceOfSatisfying(AcquireResult.Failed.class, (failed) -> failures.add(failed.failure()));
		}
		return failures;
	}

	@Test
	void a5CallsAtADatabaseThatFellSilentAreFailedAndNotCongested() throws Exception {
		Duration timeout = Duration.ofSeconds(1);
		try (JdbcLockStore store = store(timeout)) {
			this.proxy.blackHole(true);
			Awaitility.await()
				.until(() -> attempt(store, this.key), (failure) -> !(failure instanceof StoreCongestedException));
			for (int i = 0; i < 3; i++) {
				assertThat(attempt(store, this.key)).isNotNull().isNotInstanceOf(StoreCongestedException.class);
			}
			this.proxy.blackHole(false);
			Awaitility.await().untilAsserted(() -> assertThat(attempt(store, this.key)).isNull());
		}
	}

	/**
	 * The connections belong to the application.
	 */
	@Test
	void a5PoolOfTheApplicationThatIsUsedUpIsCongestion() throws SQLException {
		this.application.setMaximumPoolSize(1);
		this.application.setConnectionTimeout(500);
		try (JdbcLockStore store = new JdbcLockStore(this.application,
				JdbcLockStoreSettings.defaults().withCommandTimeout(TIMEOUT).withPoolSize(0))) {
			Patience.connected(store);
			try (Connection used = this.application.getConnection()) {
				assertThat(used.isClosed()).isFalse();
				assertThatExceptionOfType(StoreCongestedException.class).isThrownBy(() -> acquire(store, this.key));
			}
			assertThat(acquire(store, this.key)).isInstanceOf(Granted.class);
		}
	}

	private JdbcLockStore store(Duration timeout) {
		return Patience.connected(new JdbcLockStore(this.application,
				JdbcLockStoreSettings.defaults().withCommandTimeout(timeout).withPoolSize(2)));
	}

	private Connection lockRow(JdbcLockStore store) throws SQLException {
		assertThat(acquire(store, this.key)).isInstanceOf(Granted.class);
		Connection blocker = this.admin.getConnection();
		blocker.setAutoCommit(false);
		try (Statement statement = blocker.createStatement()) {
			statement.execute("SELECT * FROM dlock_lock WHERE lock_key = '" + this.key + "' FOR UPDATE");
		}
		return blocker;
	}

	private void awaitBlocked(int calls) {
		JdbcClient client = JdbcClient.create(this.admin);
		Awaitility.await()
			.until(() -> client.sql("SELECT count(*) FROM pg_locks WHERE NOT granted")
				.query(Integer.class)
				.single() >= calls);
	}

	private static StoreException attempt(JdbcLockStore store, String key) {
		return catchThrowableOfType(StoreException.class, () -> acquire(store, key));
	}

	private static AcquireResult acquire(JdbcLockStore store, String key) {
		return store.acquire(new AcquireCommand(key, "a", Duration.ofMinutes(1), "", ""));
	}

}
