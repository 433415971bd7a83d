package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import com.zaxxer.hikari.pool.HikariPool;

/**
 * A HikariCP pool that logs nothing at INFO: its superclass logs the start and the end of
 * the pool.
 */
final class LockPool extends HikariDataSource {

	private final HikariPool pool;

	LockPool(HikariConfig config) {
		config.validate();
		config.copyStateTo(this);
		this.pool = new HikariPool(this);
	}

	@Override
	public Connection getConnection() throws SQLException {
		if (isClosed()) {
			throw new SQLException("The pool of the locks is closed");
		}
		return this.pool.getConnection();
	}

	@Override
	public HikariPoolMXBean getHikariPoolMXBean() {
		return this.pool;
	}

	@Override
	public void evictConnection(Connection connection) {
		if (!isClosed()) {
			this.pool.evictConnection(connection);
		}
	}

	@Override
	public boolean isRunning() {
		return !isClosed();
	}

	@Override
	public boolean isClosed() {
		return this.pool.poolState == HikariPool.POOL_SHUTDOWN;
	}

	@Override
	public void close() {
		try {
			this.pool.shutdown();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
