package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import com.zaxxer.hikari.pool.HikariPool;

/**
 * A HikariCP pool that logs nothing at INFO: its superclass logs the start and the end of
 * the pool.
 */
final class LockPool extends HikariDataSource {

	/**
	 * HikariCP's switch for weak references from threads to the connections that they
	 * used. It is on by default where an application has a class loader of its own.
	 */
	private static final String WEAK_REFERENCES = "com.zaxxer.hikari.useWeakReferences";

	private static final ReentrantLock creation = new ReentrantLock();

	private final HikariPool pool;

	LockPool(HikariConfig config) {
		config.validate();
		config.copyStateTo(this);
		this.pool = create();
	}

	/**
	 * Create a pool. The return type is that of HikariCP: a caller that assigned a
	 * {@code LockPool} to it could not be linked without HikariCP on the class path.
	 */
	static HikariDataSource create(HikariConfig config) {
		return new LockPool(config);
	}

	/**
	 * An outage replaces the pool. With strong references each thread of the application
	 * that has used it would keep the closed pool as long as it lives. HikariCP also sets
	 * the login timeout of the whole JVM
	 * (<a href="https://github.com/brettwooldridge/HikariCP/issues/2404">#2404</a>).
	 */
	private HikariPool create() {
		creation.lock();
		String before = System.getProperty(WEAK_REFERENCES);
		int loginTimeout = DriverManager.getLoginTimeout();
		try {
			System.setProperty(WEAK_REFERENCES, "true");
			return new HikariPool(this);
		}
		finally {
			DriverManager.setLoginTimeout(loginTimeout);
			if (before != null) {
				System.setProperty(WEAK_REFERENCES, before);
			}
			else {
				System.clearProperty(WEAK_REFERENCES);
			}
			creation.unlock();
		}
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
