package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A connection in auto-commit mode that does not wait for ever, and is given back as it
 * was.
 */
final class AutoCommitConnection implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(AutoCommitConnection.class);

	private final Connection connection;

	private final boolean wasManual;

	AutoCommitConnection(Connection connection, Duration timeout) throws SQLException {
		this.connection = connection;
		try {
			limitNetworkWait(connection, timeout);
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

	private static void limitNetworkWait(Connection connection, Duration timeout) throws SQLException {
		try {
			connection.setNetworkTimeout(Runnable::run, Math.toIntExact(timeout.toMillis()));
		}
		catch (SQLFeatureNotSupportedException ex) {
			logger.trace("The driver has no network timeout", ex);
		}
	}

	Connection get() {
		return this.connection;
	}

	@Override
	public void close() {
		if (this.wasManual) {
			try {
				this.connection.setAutoCommit(false);
			}
			catch (SQLException ex) {
				logger.debug("Could not restore the auto-commit mode", ex);
			}
		}
		closeQuietly(this.connection);
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
