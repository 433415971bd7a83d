package io.dlock.torture.client;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;

/**
 * An application with a pool of connections to a database.
 */
final class PooledApplication implements Application {

	private final HikariDataSource pool;

	PooledApplication(HikariDataSource pool) {
		this.pool = pool;
	}

	@Override
	public Usage exhaust(Duration time) {
		Borrowed borrowed = new Borrowed(this.pool);
		for (int i = 0; i < this.pool.getMaximumPoolSize(); i++) {
			Thread thread = new Thread(borrowed::borrow, "application-" + i);
			thread.setDaemon(true);
			thread.start();
		}
		return borrowed;
	}

	@Override
	public void rotate(String password) {
		this.pool.setCredentials(Credentials.of(this.pool.getUsername(), password));
	}

	/**
	 * The connections. Those for which the pool has to wait until the database is back
	 * come later, or too late.
	 */
	private static final class Borrowed implements Usage {

		private final Queue<Connection> connections = new ConcurrentLinkedQueue<>();

		private final HikariDataSource pool;

		private volatile boolean closed;

		Borrowed(HikariDataSource pool) {
			this.pool = pool;
		}

		void borrow() {
			try {
				this.connections.add(this.pool.getConnection());
			}
			catch (SQLException ex) {
				// then the application has none
			}
			if (this.closed) {
				close();
			}
		}

		@Override
		public boolean isTotal() {
			return this.connections.size() == this.pool.getMaximumPoolSize();
		}

		@Override
		public void close() {
			this.closed = true;
			for (Connection next = this.connections.poll(); next != null; next = this.connections.poll()) {
				try {
					next.close();
				}
				catch (SQLException ex) {
					// broken meanwhile: the pool knows
				}
			}
		}

	}

}
