package io.dlock.benchmarks.profile;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.dlock.benchmarks.report.Summary;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.AcquireResult;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.jdbc.JdbcLockStore;
import io.dlock.store.jdbc.JdbcLockStoreSettings;
import io.dlock.store.jdbc.WakeUp;
import io.dlock.test.PostgresServer;

/**
 * How long a release on PostgreSQL takes that notifies the next process in the queue,
 * beside one that does not, and how much both slow down an application that notifies and
 * listens itself.
 */
public final class WakeUpCosts {

	private static final int THREADS = 4;

	private static final int LISTENERS = 1000;

	/** The locks of a thread in a round, which ends when they are released. */
	private static final int LOCKS = 1500;

	private static final Duration ROUND = Duration.ofSeconds(3);

	private static final int ROUNDS = 5;

	private static final Duration LEASE = Duration.ofMinutes(10);

	/** A release beside many listeners takes long. */
	private static final Duration PATIENCE = Duration.ofSeconds(30);

	/** The process that waits for all locks. */
	private static final MailboxAddress WAITING = MailboxAddress.create(Duration.ofMillis(50));

	private int keys;

	private WakeUpCosts() {
	}

	public static void main(String[] arguments) throws Exception {
		try (PostgresServer server = PostgresServer.start("-c", "fsync=on", "-c",
				"max_connections=" + (LISTENERS + 100)); HikariDataSource pool = pool(server)) {
			new ResourceDatabasePopulator(new ClassPathResource("io/dlock/store/jdbc/schema-postgresql.sql"))
				.execute(pool);
			try (LockStore polling = store(pool, WakeUp.POLL);
					LockStore notifying = store(pool, WakeUp.NOTIFY);
					Mailbox mailbox = notifying.openMailbox(WAITING, (key) -> {
					})) {
				if (mailbox == null) {
					throw new IllegalStateException("Nothing listens");
				}
				WakeUpCosts costs = new WakeUpCosts();
				costs.compare("alone", polling, notifying, List.of());
				try (Sessions sessions = Sessions.open(pool, THREADS)) {
					costs.compare("beside " + THREADS + " sessions that notify", polling, notifying,
							sessions.notifications());
				}
				try (Sessions sessions = Sessions.open(pool, LISTENERS)) {
					sessions.listen();
					costs.compare("beside " + LISTENERS + " sessions that listen", polling, notifying, List.of());
				}
			}
		}
	}

	private static HikariDataSource pool(PostgresServer server) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(server.jdbcUrl());
		config.setUsername(server.username());
		config.setPassword(server.password());
		config.setMinimumIdle(0);
		config.setMaximumPoolSize(LISTENERS);
		return new HikariDataSource(config);
	}

	private static JdbcLockStore store(HikariDataSource pool, WakeUp wakeUp) {
		return new JdbcLockStore(pool,
				JdbcLockStoreSettings.defaults().withWakeUp(wakeUp).withCommandTimeout(PATIENCE));
	}

	/**
	 * The first round is for warming up.
	 */
	private void compare(String name, LockStore polling, LockStore notifying, List<Rates.Step> others)
			throws Exception {
		List<List<Double>> without = new ArrayList<>();
		List<List<Double>> with = new ArrayList<>();
		for (int round = -1; round < ROUNDS; round++) {
			List<Double> silent = Rates.of(ROUND, releases(polling), others);
			List<Double> loud = Rates.of(ROUND, releases(notifying), others);
			if (round >= 0) {
				without.add(silent);
				with.add(loud);
			}
		}
		System.out.println(name + ": releases " + compare(without, with, 0)
				+ (others.isEmpty() ? "" : "; notifications of the others " + compare(without, with, 1)));
	}

	private static String compare(List<List<Double>> without, List<List<Double>> with, int group) {
		List<Double> silent = without.stream().map((rates) -> rates.get(group)).toList();
		List<Double> loud = with.stream().map((rates) -> rates.get(group)).toList();
		return "%s/s without, %s/s with NOTIFY, which takes %s times as long".formatted(
				Rates.text("%,.0f", Summary.of(silent)), Rates.text("%,.0f", Summary.of(loud)),
				Rates.text("%.2f", Rates.ratio(silent, loud)));
	}

	/**
	 * Threads that release locks, for each of which a process waits.
	 */
	private List<Rates.Step> releases(LockStore store) {
		return IntStream.range(0, THREADS).mapToObj((thread) -> releases(store, awaitedLocks(store))).toList();
	}

	private static Rates.Step releases(LockStore store, Queue<String> keys) {
		return () -> {
			String key = keys.poll();
			return key != null && store.release(key, owner(key));
		};
	}

	private Queue<String> awaitedLocks(LockStore store) {
		List<String> some = IntStream.range(0, LOCKS).mapToObj((i) -> "wake-up-" + this.keys++).toList();
		store.acquireAll(some.stream().map((key) -> new AcquireCommand(key, owner(key), LEASE, "me", "")).toList());
		for (String key : some) {
			AcquireResult waiting = store
				.acquire(new AcquireCommand(key, owner("next-" + key), LEASE, "other", "", WAITING, true, null));
			if (waiting instanceof AcquireResult.Granted) {
				throw new IllegalStateException("There is nothing to wait for");
			}
		}
		return new ArrayDeque<>(some);
	}

	private static String owner(String key) {
		return "owner-of-" + key;
	}

	/**
	 * Sessions of an application.
	 */
	private record Sessions(List<Connection> connections) implements AutoCloseable {

		static Sessions open(HikariDataSource pool, int count) throws SQLException {
			Sessions sessions = new Sessions(new ArrayList<>());
			for (int i = 0; i < count; i++) {
				sessions.connections.add(pool.getConnection());
			}
			return sessions;
		}

		List<Rates.Step> notifications() throws SQLException {
			List<Rates.Step> steps = new ArrayList<>();
			for (Connection connection : this.connections) {
				PreparedStatement send = connection.prepareStatement("SELECT pg_notify('application', 'event')");
				steps.add(send::execute);
			}
			return steps;
		}

		void listen() throws SQLException {
			for (Connection connection : this.connections) {
				try (Statement statement = connection.createStatement()) {
					statement.execute("LISTEN application" + this.connections.indexOf(connection));
				}
			}
		}

		@Override
		public void close() throws SQLException {
			for (Connection connection : this.connections) {
				connection.close();
			}
		}

	}

}
