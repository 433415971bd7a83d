package io.dlock.benchmarks.contender;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import com.zaxxer.hikari.HikariDataSource;

/**
 * The floor on PostgreSQL: one auto-commit upsert and one auto-commit update. No waiting,
 * no renewal, no fencing, no reentrancy.
 */
final class RawPostgresContender implements Contender {

	private static final String ACQUIRE = """
			INSERT INTO raw_lock AS l (lock_key, owner, lease_until)
			VALUES (?, ?, clock_timestamp() + ? * INTERVAL '1 millisecond')
			ON CONFLICT (lock_key) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until
			WHERE l.lease_until <= clock_timestamp()""";

	private static final String RELEASE = """
			UPDATE raw_lock SET lease_until = clock_timestamp() WHERE lock_key = ? AND owner = ?""";

	private final HikariDataSource pool;

	private final long lease;

	private final Polling polling = Polling.of(Backend.POSTGRES);

	RawPostgresContender(ServerAddress address, Duration lease) {
		this.pool = address.pool();
		this.lease = lease.toMillis();
	}

	@Override
	public ContenderLock open(String key) {
		return new Held(key);
	}

	@Override
	public void close() {
		this.pool.close();
	}

	/**
	 * The lock of one thread.
	 */
	private final class Held implements ContenderLock {

		private final String key;

		private String owner = "";

		Held(String key) {
			this.key = key;
		}

		@Override
		public void acquire() throws InterruptedException {
			this.owner = Long.toHexString(ThreadLocalRandom.current().nextLong());
			RawPostgresContender.this.polling.until(this::tryAcquire);
		}

		@Override
		public boolean tryAcquire() {
			try (Connection connection = RawPostgresContender.this.pool.getConnection();
					PreparedStatement statement = connection.prepareStatement(ACQUIRE)) {
				statement.setString(1, this.key);
				statement.setString(2, this.owner);
				statement.setLong(3, RawPostgresContender.this.lease);
				return statement.executeUpdate() == 1;
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public void release() {
			try (Connection connection = RawPostgresContender.this.pool.getConnection();
					PreparedStatement statement = connection.prepareStatement(RELEASE)) {
				statement.setString(1, this.key);
				statement.setString(2, this.owner);
				if (statement.executeUpdate() != 1) {
					throw new IllegalStateException("The lease of '" + this.key + "' was over");
				}
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
