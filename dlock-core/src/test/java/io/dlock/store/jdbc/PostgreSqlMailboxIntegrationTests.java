package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreException;
import io.dlock.test.MachineWatch;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;
import io.dlock.test.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

class PostgreSqlMailboxIntegrationTests {

	/**
	 * A timeout that runs out, since the server falls silent.
	 */
	private static final Duration SHORT_TIMEOUT = Duration.ofSeconds(1);

	private final PostgresServer server = PostgresServer.shared();

	private final MailboxAddress address = MailboxAddress.create(Duration.ofSeconds(9));

	private final String channel = "dlock_" + this.address.value();

	private final Queue<String> turns = new ConcurrentLinkedQueue<>();

	private final HikariDataSource application = configure(new HikariDataSource(), this.server.jdbcUrl());

	private final JdbcClient database = JdbcClient.create(this.application);

	private HikariDataSource configure(HikariDataSource pool, String url) {
		pool.setJdbcUrl(url);
		pool.setUsername(this.server.username());
		pool.setPassword(this.server.password());
		pool.setMaximumPoolSize(1);
		pool.setConnectionTimeout(Patience.COMMAND.toMillis());
		pool.setInitializationFailTimeout(-1);
		return pool;
	}

	@AfterEach
	void closePool() {
		this.application.close();
	}

	private void send(String channel, String payload) {
		this.database.sql("SELECT pg_notify(?, ?)::text").param(channel).param(payload).query(String.class).list();
	}

	private @Nullable Mailbox open(HikariDataSource own, BiConsumer<String, String> sender) throws SQLException {
		return PostgreSqlMailbox.open(configure(own, this.server.jdbcUrl()), Patience.COMMAND, this.channel, sender,
				this.turns::add);
	}

	private List<Integer> listeners() {
		return this.database.sql("SELECT pid FROM pg_stat_activity WHERE query = ?")
			.param("LISTEN " + this.channel)
			.query(Integer.class)
			.list();
	}

	@Test
	void mailboxWithoutNotificationsIsNotUsed() throws SQLException {
		HikariDataSource own = new HikariDataSource();
		assertThat(open(own, (channel, payload) -> {
		})).isNull();
		assertThat(own.isClosed()).isTrue();
		Awaitility.await().untilAsserted(() -> assertThat(listeners()).isEmpty());
	}

	/**
	 * On a busy machine the probe may come too late.
	 */
	private static Mailbox opened(Callable<@Nullable Mailbox> opening) {
		return MachineWatch.evaluateIfLate(() -> {
			Mailbox mailbox = opening.call();
			assertThat(mailbox).isNotNull();
			return mailbox;
		});
	}

	@Test
	void messagesDuringTheProbeAreDeliveredButNotTheProbe() throws SQLException {
		try (Mailbox mailbox = opened(() -> open(new HikariDataSource(), (channel, payload) -> {
			this.turns.clear();
			send(channel, "before");
			send(channel, payload);
			send(channel, payload);
		}))) {
			send(this.channel, "after");
			Awaitility.await().untilAsserted(() -> assertThat(this.turns).containsExactly("before", "after"));
		}
		Awaitility.await().untilAsserted(() -> assertThat(listeners()).isEmpty());
	}

	@Test
	void failureToSendTheProbeLeavesNoConnection() {
		HikariDataSource own = new HikariDataSource();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> open(own, (channel, payload) -> {
			throw new IllegalStateException("no connection");
		}));
		assertThat(own.isClosed()).isTrue();
		Awaitility.await().untilAsserted(() -> assertThat(listeners()).isEmpty());
	}

	@Test
	void r34ServerThatFallsSilentBeforeItListensEndsTheAttempt() {
		try (TcpProxy proxy = TcpProxy.to(this.server.host(), this.server.port());
				HikariDataSource silent = new HikariDataSource() {

					@Override
					public Connection getConnection() {
						Connection connection = Awaitility.await()
							.ignoreException(SQLException.class)
							.until(super::getConnection, Objects::nonNull);
						proxy.blackHole(true);
						return connection;
					}

				}) {
			// its end waits as long for the connection that it is about to open
			configure(silent, this.server.jdbcUrl(proxy.port())).setConnectionTimeout(SHORT_TIMEOUT.toMillis());
			assertTimeoutPreemptively(Patience.EVENTUALLY,
					() -> assertThatExceptionOfType(SQLException.class).isThrownBy(() -> PostgreSqlMailbox.open(silent,
							SHORT_TIMEOUT, this.channel, this::send, this.turns::add)));
		}
	}

	@Test
	void r34SilentServerEndsTheAttemptOfAStore() {
		try (TcpProxy proxy = TcpProxy.to(this.server.host(), this.server.port());
				HikariDataSource pool = configure(new HikariDataSource(), this.server.jdbcUrl(proxy.port()))) {
			withStore(pool, SHORT_TIMEOUT, (store) -> {
				proxy.blackHole(true);
				assertTimeoutPreemptively(Patience.EVENTUALLY, () -> assertThatExceptionOfType(StoreException.class)
					.isThrownBy(() -> store.openMailbox(this.address, this.turns::add)));
			});
		}
	}

	private void withStore(HikariDataSource pool, Duration timeout, Consumer<JdbcLockStore> test) {
		Pools.createLockTable(this.application, "postgresql");
		try (JdbcLockStore store = new JdbcLockStore(pool,
				JdbcLockStoreSettings.defaults().withCommandTimeout(timeout).withPoolSize(2))) {
			Patience.connected(store);
			test.accept(store);
		}
	}

	private void terminate(int pid) {
		this.database.sql("SELECT pg_terminate_backend(?)").param(pid).query(Boolean.class).single();
	}

	private int listener() {
		return Awaitility.await().until(this::listeners, (pids) -> pids.size() == 1).get(0);
	}

	@Test
	void connectionThatBreaksIsOpenedAgain() {
		withStore(this.application, Patience.COMMAND, (store) -> {
			Mailbox mailbox = opened(() -> store.openMailbox(this.address, this.turns::add));
			int first = listener();
			terminate(first);
			Awaitility.await().untilAsserted(() -> assertThat(listener()).isNotEqualTo(first));
			String key = "reconnect/" + this.address.value();
			Duration lease = Duration.ofSeconds(20);
			assertThat(store.acquire(new AcquireCommand(key, "a", lease, "holder", ""))).isInstanceOf(Granted.class);
			assertThat(store.acquire(new AcquireCommand(key, "b", lease, "holder", "", this.address, true, null)))
				.isInstanceOf(Refused.class);
			assertThat(store.release(key, "a")).isTrue();
			Awaitility.await().untilAsserted(() -> assertThat(this.turns).containsExactly(key));
			mailbox.close();
			Awaitility.await().untilAsserted(() -> assertThat(listeners()).isEmpty());
		});
	}

	/**
	 * A network forgets connections on which nothing is sent. The check takes ten
	 * seconds.
	 */
	@Test
	void r29ConnectionThatFellSilentIsOpenedAgain() throws SQLException {
		AtomicInteger opened = new AtomicInteger();
		try (TcpProxy proxy = TcpProxy.to(this.server.host(), this.server.port());
				Mailbox mailbox = opened(
						() -> PostgreSqlMailbox.open(configure(counting(opened), this.server.jdbcUrl(proxy.port())),
								Patience.COMMAND, this.channel, this::send, this.turns::add))) {
			int before = opened.get();
			proxy.blackHole(true);
			Awaitility.await().until(() -> opened.get() > before);
			proxy.blackHole(false);
			Awaitility.await().untilAsserted(() -> {
				send(this.channel, "after");
				assertThat(this.turns).contains("after");
			});
		}
	}

	private static HikariDataSource counting(AtomicInteger opened) {
		return new HikariDataSource() {

			@Override
			public Connection getConnection() throws SQLException {
				opened.incrementAndGet();
				return super.getConnection();
			}

		};
	}

	@Test
	void mailboxEndsWithItsStoreEvenIfItsConnectionIsBeingOpenedAgain() {
		withStore(this.application, Patience.COMMAND, (store) -> {
			opened(() -> store.openMailbox(this.address, this.turns::add));
			terminate(listener());
			store.close();
		});
		Awaitility.await()
			.atMost(Duration.ofSeconds(8))
			.during(Duration.ofMillis(1500))
			.untilAsserted(() -> assertThat(listeners()).as("nor is it opened again").isEmpty());
	}

}
