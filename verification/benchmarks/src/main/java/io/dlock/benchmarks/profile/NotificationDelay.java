package io.dlock.benchmarks.profile;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.SynchronousQueue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

import io.dlock.store.jdbc.PromptSocketFactory;
import io.dlock.test.PostgresServer;

/**
 * How long a notification of PostgreSQL takes from the call that sends it to the thread
 * that waits for it, with the driver's sockets and with ours.
 */
public final class NotificationDelay {

	private static final int COUNT = 2000;

	private NotificationDelay() {
	}

	public static void main(String[] arguments) throws Exception {
		try (PostgresServer server = PostgresServer.start()) {
			for (String name : List.of("warm-up", "driver's sockets", "our sockets")) {
				HikariConfig config = new HikariConfig();
				config.setJdbcUrl(server.jdbcUrl());
				config.setUsername(server.username());
				config.setPassword(server.password());
				if (name.startsWith("our")) {
					config.addDataSourceProperty("socketFactory", PromptSocketFactory.class.getName());
				}
				try (HikariDataSource pool = new HikariDataSource(config)) {
					long[] nanos = measure(pool);
					System.out.printf("%-17s p50 %,5.0f µs  p99 %,5.0f µs%n", name, nanos[COUNT / 2] / 1e3,
							nanos[COUNT * 99 / 100] / 1e3);
				}
			}
		}
	}

	private static long[] measure(HikariDataSource pool) throws SQLException, InterruptedException {
		SynchronousQueue<Long> received = new SynchronousQueue<>();
		long[] nanos = new long[COUNT];
		try (Connection listening = pool.getConnection(); Connection sending = pool.getConnection()) {
			try (Statement statement = listening.createStatement()) {
				statement.execute("LISTEN profile");
			}
			Thread listener = new Thread(() -> listen(listening, received));
			listener.setDaemon(true);
			listener.start();
			try (PreparedStatement send = sending.prepareStatement("SELECT pg_notify('profile', 'key')")) {
				for (int i = 0; i < COUNT; i++) {
					long start = System.nanoTime();
					send.execute();
					nanos[i] = received.take() - start;
				}
			}
			listener.join();
		}
		Arrays.sort(nanos);
		return nanos;
	}

	private static void listen(Connection connection, SynchronousQueue<Long> received) {
		try {
			int left = COUNT;
			while (left > 0) {
				PGNotification[] notifications = connection.unwrap(PGConnection.class).getNotifications(60_000);
				long now = System.nanoTime();
				if (notifications != null && notifications.length > 0) {
					received.put(now);
					left--;
				}
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
