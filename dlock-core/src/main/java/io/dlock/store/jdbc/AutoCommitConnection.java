package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A connection in auto-commit mode with a network timeout. Its former mode is restored
 * when it is closed.
 */
final class AutoCommitConnection implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(AutoCommitConnection.class);

	private static final int NO_NETWORK_TIMEOUT = -1;

	private final Connection connection;

	private final boolean wasManual;

	private final int networkTimeout;

	AutoCommitConnection(Connection connection, Duration timeout) throws SQLException {
		this.connection = connection;
		try {
			this.networkTimeout = limitNetworkWait(connection, timeout);
			this.wasManual = !connection.getAutoCommit();
			if (this.wasManual) {
				connection.setAutoCommit(true);
			}
		}
		catch (SQLException | RuntimeException ex) {
			closeQuietly(connection);
			throw ex;
		}
	}

	/**
	 * Limit the wait for the network.
	 * @return the former limit, or {@link #NO_NETWORK_TIMEOUT} if the driver has none
	 */
	private static int limitNetworkWait(Connection connection, Duration timeout) throws SQLException {
		try {
			int before = connection.getNetworkTimeout();
			// zero means no timeout
			connection.setNetworkTimeout(Runnable::run, Math.toIntExact(Math.max(1, timeout.toMillis())));
			return before;
		}
		catch (SQLFeatureNotSupportedException ex) {
			logger.trace("The driver has no network timeout", ex);
			return NO_NETWORK_TIMEOUT;
		}
	}

	Connection get() {
		return this.connection;
	}

	@Override
	public void close() {
		try {
			if (!this.connection.isClosed()) {
				restore();
			}
		}
		catch (SQLException ex) {
			logger.debug("Could not restore the mode of a connection", ex);
		}
		closeQuietly(this.connection);
	}

	private void restore() throws SQLException {
		if (this.wasManual) {
			this.connection.setAutoCommit(false);
		}
		if (this.networkTimeout != NO_NETWORK_TIMEOUT) {
			this.connection.setNetworkTimeout(Runnable::run, this.networkTimeout);
		}
	}

	private static void closeQuietly(Connection connection) {
		try {
			connection.close();
		}
		catch (SQLException ex) {
			logger.debug("Could not close a connection", ex);
		}
	}

}
