package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

import io.dlock.store.Mailbox;

/**
 * Messages of {@code NOTIFY}, for which a thread listens on a connection of its own. When
 * the connection breaks it is opened again; what was sent meanwhile is gone.
 */
final class PostgreSqlMailbox implements Mailbox, Runnable {

	private static final Log logger = LogFactory.getLog(PostgreSqlMailbox.class);

	/** Nothing tells a listener that its connection is dead but a look at it. */
	private static final Duration IDLE_CHECK = Duration.ofSeconds(10);

	private static final Duration RECONNECT_PAUSE = Duration.ofSeconds(1);

	private final HikariDataSource dataSource;

	private final String channel;

	private final Consumer<String> onTurn;

	private final Thread thread = new Thread(this, "dlock-mailbox");

	private volatile @Nullable Connection connection;

	private volatile boolean closed;

	private PostgreSqlMailbox(HikariDataSource dataSource, String channel, Consumer<String> onTurn) {
		this.dataSource = dataSource;
		this.channel = channel;
		this.onTurn = onTurn;
		this.thread.setDaemon(true);
	}

	/**
	 * Begin to listen.
	 * @param dataSource a pool for this connection, closed with the mailbox
	 * @param channel the channel, a plain identifier
	 * @param onTurn whom to tell
	 * @return the mailbox, or {@code null} if the driver has no notifications
	 * @throws SQLException if there is no connection
	 */
	static @Nullable Mailbox open(HikariDataSource dataSource, String channel, Consumer<String> onTurn)
			throws SQLException {
		PostgreSqlMailbox mailbox = new PostgreSqlMailbox(dataSource, channel, onTurn);
		if (!mailbox.connect()) {
			mailbox.close();
			return null;
		}
		mailbox.thread.start();
		return mailbox;
	}

	private boolean connect() throws SQLException {
		Connection opened = this.dataSource.getConnection();
		this.connection = opened;
		if (!opened.isWrapperFor(PGConnection.class)) {
			return false;
		}
		try (Statement statement = opened.createStatement()) {
			statement.execute("LISTEN " + this.channel);
		}
		return true;
	}

	@Override
	public void run() {
		while (!this.closed) {
			try {
				Connection current = this.connection;
				if (current != null) {
					receive(current);
				}
				else {
					connect();
				}
			}
			catch (SQLException | RuntimeException ex) {
				if (!this.closed) {
					logger.debug("The connection that listens for locks broke and will be opened again", ex);
					disconnect();
					pause();
				}
			}
		}
	}

	private void receive(Connection current) throws SQLException {
		PGNotification[] notifications = current.unwrap(PGConnection.class)
			.getNotifications(Math.toIntExact(IDLE_CHECK.toMillis()));
		if (notifications == null || notifications.length == 0) {
			if (!current.isValid(1)) {
				throw new SQLException("The connection is dead");
			}
			return;
		}
		for (PGNotification notification : notifications) {
			this.onTurn.accept(notification.getParameter());
		}
	}

	private void pause() {
		try {
			Thread.sleep(RECONNECT_PAUSE.toMillis());
		}
		catch (InterruptedException ex) {
			// closed
			logger.trace("Interrupted", ex);
		}
	}

	private void disconnect() {
		Connection current = this.connection;
		this.connection = null;
		if (current != null) {
			try {
				this.dataSource.evictConnection(current);
				current.close();
			}
			catch (SQLException ex) {
				logger.trace("Could not close a broken connection", ex);
			}
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
		this.dataSource.close();
	}

}
