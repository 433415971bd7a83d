package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.ReleaseCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Locks in PostgreSQL whose waiting processes poll, since NOTIFY does not scale there.
 */
class PostgreSqlPollingIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(60);

	private final PostgresServer server = PostgresServer.shared();

	private final MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));

	private final String key = "poll/" + this.address.value();

	private final HikariDataSource application = Pools.create(this.server);

	private final JdbcLockStoreSettings settings = JdbcLockStoreSettings.defaults()
		.withCommandTimeout(Patience.COMMAND);

	@BeforeEach
	void createTable() {
		Pools.createLockTable(this.application, "postgresql");
	}

	@AfterEach
	void closePool() {
		this.application.close();
	}

	private AcquireCommand command(String owner, MailboxAddress mailbox, int limit) {
		return new AcquireCommand(this.key, owner, LEASE, "holder", "", mailbox, mailbox != null, null, limit);
	}

	/**
	 * The last message is one of the test, so that all before it have arrived.
	 */
	@ParameterizedTest
	@CsvSource({ "a, false", "a, true", "+a, false" })
	void releaseIsNoticedAndNotifiesNone(String owner, boolean batch) throws SQLException {
		Queue<String> turns = new ConcurrentLinkedQueue<>();
		String channel = "dlock_" + this.address.value();
		try (JdbcLockStore store = new JdbcLockStore(this.application, this.settings.withWakeUp(WakeUp.POLL));
				Mailbox mailbox = Patience.connected(store).openMailbox(this.address, turns::add);
				Connection connection = this.application.getConnection();
				Statement listener = connection.createStatement()) {
			assertThat(mailbox).isInstanceOf(Mailbox.class);
			assertThat(JdbcClient.create(this.application)
				.sql("SELECT pid FROM pg_stat_activity WHERE query = ?")
				.param("LISTEN " + channel)
				.query(Integer.class)
				.list()).isEmpty();
			listener.execute("LISTEN " + channel);
			assertThat(store.acquire(command(owner, null, 1))).isInstanceOf(Granted.class);
			assertThat(store.acquire(command(owner + "2", this.address, 1))).isInstanceOf(Refused.class);
			if (batch) {
				store.releaseAll(List.of(new ReleaseCommand(this.key, owner)));
			}
			else {
				assertThat(store.release(this.key, owner)).isTrue();
			}
			Awaitility.await().untilAsserted(() -> assertThat(turns).containsExactly(this.key));
			assertThat(store.acquire(command(owner + "2", this.address, 1))).isInstanceOf(Granted.class);
			listener.execute("SELECT pg_notify('" + channel + "', 'last')");
			PGNotification[] heard = connection.unwrap(PGConnection.class).getNotifications();
			assertThat(Stream.of(heard).map(PGNotification::getParameter)).containsExactly("last");
		}
	}

	@Test
	void notificationsNeedConnectionsOfTheLocksOwn() {
		try (JdbcLockStore store = new JdbcLockStore(this.application,
				this.settings.withWakeUp(WakeUp.NOTIFY).withPoolSize(0))) {
			assertThatExceptionOfType(StoreMisconfiguredException.class).isThrownBy(store::verify)
				.withMessageContaining("dlock.jdbc.wake-up")
				.withMessageContaining("no connections of their own");
		}
		try (JdbcLockStore store = new JdbcLockStore(this.application, this.settings.withWakeUp(WakeUp.NOTIFY))) {
			Patience.connected(store);
		}
	}

	/**
	 * A set of locks is asked for with one statement.
	 */
	@Test
	void lockOfASetIsPolledUntilItIsGranted() {
		try (JdbcLockStore store = new JdbcLockStore(this.application, this.settings.withWakeUp(WakeUp.POLL));
				Mailbox mailbox = Patience.connected(store).openMailbox(this.address, (turn) -> {
				})) {
			assertThat(mailbox).isInstanceOf(Mailbox.class);
			assertThat(store.supportsBatches()).isTrue();
			assertThat(store.acquire(command("a", null, 1))).isInstanceOf(Granted.class);
			List<AcquireCommand> set = List.of(command("b", this.address, 1));
			assertThat(store.acquireAll(set)).hasOnlyElementsOfType(Refused.class);
			assertThat(store.awaited(this.address)).containsExactly(this.key);
			assertThat(store.release(this.key, "a")).isTrue();
			assertThat(store.acquireAll(set)).hasOnlyElementsOfType(Granted.class);
			assertThat(store.awaited(this.address)).isEmpty();
		}
	}

}
