package io.dlock.torture.fault;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.dlock.torture.server.SqlStore;
import io.dlock.torture.server.StoreType;
import io.dlock.torture.server.StoreUnderTest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Integration tests for the faults that administrators cause, as a connection notices
 * them.
 */
@Timeout(120)
class DatabaseFaultsIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(1);

	private final ConcurrentLinkedQueue<String> told = new ConcurrentLinkedQueue<>();

	@TempDir
	private Path directory;

	@ParameterizedTest
	@EnumSource(value = StoreType.class, names = { "POSTGRES", "MARIADB" })
	void faultsDoWhatTheySay(StoreType type) throws Exception {
		try (SqlStore store = (SqlStore) StoreUnderTest.start(type,
				new StoreUnderTest.Mode(true, Optional.empty(), Map.of()))) {
			store.execute("INSERT INTO shedlock VALUES ('x', CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, 'x')");
			boolean postgres = type == StoreType.POSTGRES;
			commitsWaitAndSessionsAreCounted(store, postgres ? SlowCommit.postgres(LEASE) : SlowCommit.mariaDb(LEASE));
			onlyNewConnectionsReachThePromotedServer(store,
					postgres ? Demotion.postgres(LEASE) : Demotion.mariaDb(LEASE));
			passwordIsChangedAndChangedBack(store, postgres ? Credentials.postgres(LEASE) : Credentials.mariaDb(LEASE));
			assertThat(isWritable(store::openAsClient)).isTrue();
		}
	}

	private void commitsWaitAndSessionsAreCounted(SqlStore store, FaultType type) throws Exception {
		try (Connection before = store.openAsClient()) {
			assertThat(write(before)).isTrue();
			Running running = start(store, type, 4000, 0, List.of());
			await().until(() -> timeline().contains(" START "));
			await().until(() -> !CompletableFuture.supplyAsync(() -> write(before))
				.completeOnTimeout(false, 300, TimeUnit.MILLISECONDS)
				.join());
			running.await();
			// with no client only the session of the check is allowed; MariaDB does
			// not count those that were there before its limit
			assertThat(running.nemesis().disturbances()).anyMatch((line) -> line.contains("sessions"));
			if (store.type() == StoreType.POSTGRES) {
				assertThat(running.nemesis().disturbances()).anyMatch((line) -> line.contains("cannot connect"));
			}
			await().until(() -> isWritable(store::openAsClient));
		}
	}

	private void onlyNewConnectionsReachThePromotedServer(SqlStore store, FaultType type) throws Exception {
		try (Connection before = store.openAsClient()) {
			assertThat(write(before)).isTrue();
			Running running = start(store, type, 6000, 2000, List.of());
			await().until(() -> !write(before));
			assertThat(isWritable(store::openAsClient) && !timeline().contains("RESTORED")).isFalse();
			await().until(() -> timeline().contains("RESTORED"));
			await().until(() -> isWritable(store::openAsClient) || !running.isOn());
			assertThat(write(before)).isFalse();
			running.await();
			assertThat(before.isValid(5)).isFalse();
		}
		assertThat(isWritable(store::openAsClient)).isTrue();
	}

	private void passwordIsChangedAndChangedBack(SqlStore store, FaultType type) throws Exception {
		String url = store.open().getMetaData().getURL();
		Running running = start(store, type, 4000, 42, List.of(new ToldClient()));
		await().until(() -> timeline().contains("RESTORED F33"));
		assertThat(isWritable(() -> DriverManager.getConnection(url, SqlStore.USER, "torture-42"))).isTrue();
		assertThat(isWritable(store::openAsClient) && running.isOn()).isFalse();
		running.await();
		assertThat(this.told).containsExactly("AFFLICT 0 credentials 0 42", "AFFLICT 0 credentials 0 0");
	}

	private Running start(SqlStore store, FaultType type, long millis, long amount, List<ToldClient> beside)
			throws Exception {
		Timeline timeline = new Timeline(this.directory.resolve("timeline.txt"));
		Bed bed = new Bed(store, List.of(), beside, List.of(), Optional.empty(), LEASE, Duration.ZERO);
		Nemesis nemesis = new Nemesis(bed, timeline);
		CompletableFuture<Void> done = CompletableFuture.runAsync(() -> {
			try (timeline) {
				nemesis.run(List.of(new PlannedFault(0, type, 0, 0, millis, amount)));
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
		return new Running(nemesis, done);
	}

	private String timeline() throws Exception {
		return Files.readString(this.directory.resolve("timeline.txt"));
	}

	private static boolean isWritable(Connecting connecting) {
		try (Connection connection = connecting.connect()) {
			return write(connection);
		}
		catch (SQLException ex) {
			return false;
		}
	}

	private static boolean write(Connection connection) {
		try (Statement statement = connection.createStatement()) {
			statement.execute("UPDATE shedlock SET locked_by = '" + UUID.randomUUID() + "'");
			return true;
		}
		catch (SQLException ex) {
			return false;
		}
	}

	/**
	 * Connects somehow.
	 */
	@FunctionalInterface
	private interface Connecting {

		Connection connect() throws SQLException;

	}

	private record Running(Nemesis nemesis, CompletableFuture<Void> done) {

		boolean isOn() {
			return !this.done.isDone();
		}

		void await() {
			this.done.join();
			assertThat(this.nemesis.failures()).isEmpty();
		}

	}

	private final class ToldClient implements Bed.TorturedClient {

		@Override
		public long pid() {
			return 0;
		}

		@Override
		public void pause() {
		}

		@Override
		public void resume() {
		}

		@Override
		public void kill() {
		}

		@Override
		public boolean holdsSharedLock() {
			return false;
		}

		@Override
		public void respawn() {
		}

		@Override
		public String ask(String line, String answer) {
			DatabaseFaultsIntegrationTests.this.told.add(line);
			return "0 rotated";
		}

		@Override
		public Optional<ClockOffset> clock() {
			return Optional.empty();
		}

	}

}
