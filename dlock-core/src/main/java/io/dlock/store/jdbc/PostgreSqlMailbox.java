package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.springframework.util.ClassUtils;

import io.dlock.store.Mailbox;

/**
 * Receives the messages of {@code NOTIFY} with a thread and a connection of its own. A
 * connection that breaks is opened again; messages sent meanwhile are lost.
 */
final class PostgreSqlMailbox implements Mailbox, Runnable {

	private static final Log logger = LogFactory.getLog(PostgreSqlMailbox.class);

	/** A listener learns that its connection is dead only by a check. */
	private static final Duration IDLE_CHECK = Duration.ofSeconds(10);

	private static final Duration RECONNECT_PAUSE = Duration.ofSeconds(1);

	private static final Duration PROBE_WAIT = Duration.ofSeconds(1);

	/** No storage key has a space. */
	private static final String PROBE = "probe ";

	private static final String SOCKET_FACTORY = "socketFactory";

	private final HikariDataSource dataSource;

	private final Duration timeout;

	private final String channel;

	/** Sends a message to a channel, as releases do. */
	private final BiConsumer<String, String> sender;

	private final Consumer<String> onLockAvailable;

	private final Thread thread = new Thread(null, this, "dlock-mailbox", 0, false);

	private volatile @Nullable Connection connection;

	private volatile boolean closed;

	private PostgreSqlMailbox(HikariDataSource dataSource, Duration timeout, String channel,
			BiConsumer<String, String> sender, Consumer<String> onLockAvailable) {
		this.dataSource = dataSource;
		this.timeout = timeout;
		this.channel = channel;
		this.sender = sender;
		this.onLockAvailable = onLockAvailable;
		this.thread.setDaemon(true);
	}

	/**
	 * Receive notifications without delay, unless the application has a socket factory,
	 * or the driver cannot load this one.
	 * @param config the configuration of the pool
	 */
	static void promptly(HikariConfig config) {
		String factory = PromptSocketFactory.class.getName();
		if (ClassUtils.isPresent(factory, PGConnection.class.getClassLoader())) {
			DriverOptions.add(config, "jdbc:postgresql:", SOCKET_FACTORY, factory);
		}
	}

	/**
	 * Begin to listen.
	 * @param dataSource a pool for this connection, closed with the mailbox
	 * @param timeout how long a statement may take
	 * @param channel the channel, a plain identifier
	 * @param sender sends messages on another connection
	 * @param onLockAvailable takes the storage keys
	 * @return the mailbox, or {@code null} if the driver has no notifications or they do
	 * not arrive
	 * @throws SQLException if there is no connection
	 */
	static @Nullable Mailbox open(HikariDataSource dataSource, Duration timeout, String channel,
			BiConsumer<String, String> sender, Consumer<String> onLockAvailable) throws SQLException {
		PostgreSqlMailbox mailbox = new PostgreSqlMailbox(dataSource, timeout, channel, sender, onLockAvailable);
		boolean listening = false;
		try {
			listening = mailbox.connect();
		}
		finally {
			if (!listening) {
				mailbox.close();
			}
		}
		if (!listening) {
			return null;
		}
		mailbox.thread.start();
		return mailbox;
	}

	/**
	 * Connect and listen. The wait of the driver for notifications does not depend on the
	 * network timeout.
	 * @return whether notifications arrive
	 */
	private boolean connect() throws SQLException {
		Connection opened = this.dataSource.getConnection();
		this.connection = opened;
		if (this.closed) {
			throw new SQLException("Closed while the connection was opened");
		}
		if (!opened.isWrapperFor(PGConnection.class)) {
			return false;
		}
		opened.setNetworkTimeout(Runnable::run, Math.toIntExact(this.timeout.toMillis()));
		try (Statement statement = opened.createStatement()) {
			statement.execute("LISTEN " + this.channel);
		}
		return probe(opened.unwrap(PGConnection.class));
	}

	/**
	 * A connection pooler that gives each transaction another session accepts LISTEN, but
	 * delivers nothing. The message comes from another connection, because a session
	 * notifies itself even then.
	 */
	private boolean probe(PGConnection opened) throws SQLException {
		String probe = PROBE + UUID.randomUUID();
		this.sender.accept(this.channel, probe);
		long start = System.nanoTime();
		long left = PROBE_WAIT.toMillis();
		while (left > 0) {
			PGNotification[] notifications = opened.getNotifications(Math.toIntExact(left));
			if (notifications != null && deliver(notifications, probe)) {
				return true;
			}
			left = PROBE_WAIT.minusNanos(System.nanoTime() - start).toMillis();
		}
		logger.info("Notifications of PostgreSQL do not arrive, as behind PgBouncer with pool_mode=transaction");
		return false;
	}

	@Override
	public void run() {
		while (!this.closed) {
			try {
				Connection current = this.connection;
				if (current != null) {
					receive(current);
				}
				else if (!connect()) {
					throw new SQLException("Notifications do not arrive any more");
				}
			}
			catch (SQLException | RuntimeException | Error ex) {
				disconnect();
				if (!this.closed) {
					logger.debug("The connection that listens for locks broke and will be opened again", ex);
					pause();
				}
			}
		}
	}

	private void receive(Connection current) throws SQLException {
		PGNotification[] notifications = current.unwrap(PGConnection.class)
			.getNotifications(Math.toIntExact(IDLE_CHECK.toMillis()));
		if (notifications == null || notifications.length == 0) {
			checkServer(current);
			return;
		}
		deliver(notifications, PROBE);
	}

	/**
	 * The locks leave a server that was demoted, and their messages come from another
	 * one.
	 */
	private static void checkServer(Connection current) throws SQLException {
		if (!current.isValid(1)) {
			throw new SQLException("The connection is dead");
		}
		try (Statement statement = current.createStatement();
				ResultSet row = statement.executeQuery("SHOW transaction_read_only")) {
			if (row.next() && !row.getString(1).equals("off")) {
				throw new SQLException("The server takes no locks any more");
			}
		}
	}

	/**
	 * Deliver the messages, but not the probes.
	 * @return whether the given probe was among them
	 */
	private boolean deliver(PGNotification[] notifications, String probe) {
		boolean arrived = false;
		for (PGNotification notification : notifications) {
			String payload = notification.getParameter();
			if (payload.equals(probe)) {
				arrived = true;
			}
			else if (!payload.startsWith(PROBE)) {
				this.onLockAvailable.accept(payload);
			}
		}
		return arrived;
	}

	private void pause() {
		LockSupport.parkNanos(this, RECONNECT_PAUSE.toNanos());
	}

	private void disconnect() {
		Connection current = this.connection;
		this.connection = null;
		if (current != null) {
			// this closes it; the pool fails if it is closed again
			this.dataSource.evictConnection(current);
		}
	}

	@Override
	public void close() {
		this.closed = true;
		this.thread.interrupt();
		Connection current = this.connection;
		if (current != null) {
			try {
				current.abort(Runnable::run);
			}
			catch (SQLException ex) {
				logger.debug("Could not abort the connection that listens for locks", ex);
			}
		}
		LockPools.close(this.dataSource);
	}

}
