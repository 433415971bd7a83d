package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.store.QuarantineEnd;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.jdbc.ConnectionSlots.Slot;
import io.dlock.store.jdbc.dialect.LockDialect;
import io.dlock.store.jdbc.dialect.SqlErrors;

/**
 * Runs the work of the store on its connections, and decides about a connection that
 * failed. A call has one command timeout in all.
 */
final class LockConnections implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(LockConnections.class);

	private final JdbcLockStoreSettings settings;

	private final LockDatabaseOpener databases;

	private final AbandonedSessions abandoned;

	private final QuarantineEnd quarantine = new QuarantineEnd();

	private final AtomicLong refreshed = new AtomicLong(System.nanoTime());

	/**
	 * The number of connections of the application that may be dropped in this period.
	 */
	private final AtomicInteger evictable = new AtomicInteger();

	LockConnections(DataSource dataSource, JdbcLockStoreSettings settings) {
		this.settings = settings;
		this.databases = new LockDatabaseOpener(dataSource, settings);
		this.abandoned = new AbandonedSessions(this::endSessions, halfTimeout(), halfTimeout());
	}

	/**
	 * Run some work on a connection in auto-commit mode.
	 * @param <T> the type of the result
	 * @param operation the name of the work, for messages
	 * @param work the work; repeated after a conflict that the database resolved
	 * @return the result of the work
	 */
	<T> T execute(String operation, Work<T> work) {
		return execute(false, operation, work);
	}

	/**
	 * Run a renewal, for which a connection is reserved.
	 * @param <T> the type of the result
	 * @param renewal the renewal; repeated after a conflict that the database resolved
	 * @return the result of the renewal
	 */
	<T> T executeRenewal(Work<T> renewal) {
		return execute(true, "renew", renewal);
	}

	private <T> T execute(boolean renewal, String operation, Work<T> work) {
		try (Slot slot = this.databases.open().enter(renewal)) {
			// the pool may have been replaced while this call waited for its slot
			return execute(this.databases.open(), slot, renewal, operation, work);
		}
	}

	private <T> T execute(LockDatabase current, Slot slot, boolean renewal, String operation, Work<T> work) {
		try (AutoCommitConnection connection = connect(current, renewal)) {
			return run(current, slot, connection.get(), operation, work);
		}
	}

	private <T> T run(LockDatabase current, Slot slot, Connection connection, String operation, Work<T> work) {
		String session = identify(current, connection);
		try {
			T result = repeatOnConflict(current.dialect(), connection, work);
			slot.answered();
			return result;
		}
		catch (StoreException ex) {
			slot.answered();
			if (ex instanceof StoreQuarantinedException quarantined) {
				noteQuarantine(quarantined.remaining());
			}
			throw ex;
		}
		catch (SQLException ex) {
			StoreException failure = SqlErrors.translate(operation, ex);
			if (failure.effect() == Effect.UNKNOWN) {
				this.abandoned.add(session, slot);
				LockPools.evict(current.dataSource(), connection);
			}
			else {
				slot.answered();
				leaveIfReadOnly(current, connection, ex);
			}
			throw failure;
		}
	}

	private void noteQuarantine(Duration remaining) {
		if (this.quarantine.note(remaining)) {
			logger.warn(
					"The lock database (%s) has failed over or restarted: no lock is granted for %d ms, until all leases that it may have forgotten have expired. Known locks are still renewed"
						.formatted(description(), remaining.toMillis()));
		}
	}

	private String identify(LockDatabase current, Connection connection) {
		if (current.slots() == null) {
			return "";
		}
		try {
			return this.abandoned.identify(current.dialect(), connection);
		}
		catch (SQLException ex) {
			LockPools.evict(current.dataSource(), connection);
			throw SqlErrors.notConnected(ex);
		}
	}

	/**
	 * A server that became read-only keeps its connections, while its address may lead to
	 * another server by now. If it does not, new connections are useless: within a
	 * command timeout at most as many are opened as there were before.
	 */
	private void leaveIfReadOnly(LockDatabase current, Connection connection, SQLException ex) {
		if (!SqlErrors.isReadOnly(ex)) {
			return;
		}
		boolean first = isFirstInItsPeriod();
		if (current.slots() == null) {
			if (first) {
				this.evictable.set(LockPools.size(current.dataSource()));
			}
			if (this.evictable.getAndDecrement() > 0) {
				LockPools.evict(current.dataSource(), connection);
			}
		}
		else if (first) {
			LockPools.evictAll(current.dataSource());
		}
	}

	private boolean isFirstInItsPeriod() {
		long before = this.refreshed.get();
		long now = System.nanoTime();
		return now - before > this.settings.commandTimeout().toNanos() && this.refreshed.compareAndSet(before, now);
	}

	private Collection<String> endSessions(Collection<String> sessions) {
		return execute(this.databases.open(), Slot.uncounted(), true, "end sessions",
				(dialect, connection) -> dialect.endSessions(connection, sessions));
	}

	private static <T> T repeatOnConflict(LockDialect dialect, Connection connection, Work<T> work)
			throws SQLException {
		int conflicts = 0;
		while (true) {
			try {
				return work.run(dialect, connection);
			}
			catch (SQLException ex) {
				if (!SqlErrors.isConflict(ex) || ++conflicts == 10) {
					throw ex;
				}
			}
		}
	}

	/**
	 * The time left for the work of a call that has a slot. Half of the time of a call is
	 * for the connection, and the time spent on the connection is not available to the
	 * work. At least a quarter is left, because a connection without time for the work is
	 * useless. A renewal has its whole time, because no caller waits for it.
	 */
	private Duration timeLeft(boolean renewal, long begin) {
		long timeout = this.settings.commandTimeout().toNanos();
		long left = renewal ? timeout : timeout - (System.nanoTime() - begin);
		return Duration.ofNanos(Math.max(left, timeout / 4));
	}

	private Duration halfTimeout() {
		return this.settings.commandTimeout().dividedBy(2);
	}

	private AutoCommitConnection connect(LockDatabase current, boolean renewal) {
		long begin = System.nanoTime();
		Connection connection;
		try {
			connection = current.dataSource().getConnection();
		}
		catch (SQLException ex) {
			this.databases.replaceIfEmpty(current);
			throw LockPools.isExhausted(current.dataSource(), ex)
					? new StoreCongestedException("No connection became free (" + ex.getMessage() + ")", ex)
					: SqlErrors.notConnected(ex);
		}
		try {
			return new AutoCommitConnection(connection, timeLeft(renewal, begin));
		}
		catch (SQLException ex) {
			LockPools.evict(current.dataSource(), connection);
			throw SqlErrors.notConnected(ex);
		}
	}

	/**
	 * The dialect, for work on a connection of the caller.
	 */
	LockDialect dialect() {
		return this.databases.open().dialect();
	}

	/**
	 * Whether the database, as far as it is known by now, takes several keys with one
	 * statement.
	 */
	boolean supportBatches() {
		LockDatabase known = this.databases.opened();
		return known != null && known.dialect().supportsBatches();
	}

	/**
	 * A pool of one connection, for a mailbox.
	 * @param adaptation changes the configuration for that connection
	 */
	HikariDataSource mailboxPool(Consumer<HikariConfig> adaptation) {
		return this.databases.mailboxPool(adaptation);
	}

	/**
	 * Whether the store has a pool of its own.
	 * @return whether there can be another pool for a mailbox
	 */
	boolean areOwn() {
		return this.databases.open().slots() != null;
	}

	Duration commandTimeout() {
		return this.settings.commandTimeout();
	}

	/**
	 * The rest of the quarantine, as far as it is known.
	 */
	Duration quarantine() {
		return this.quarantine.remaining();
	}

	String description() {
		return this.databases.description();
	}

	@Override
	public void close() {
		this.abandoned.close();
		this.databases.close();
	}

	/**
	 * Some work on a connection.
	 *
	 * @param <T> the result
	 */
	@FunctionalInterface
	interface Work<T> {

		T run(LockDialect dialect, Connection connection) throws SQLException;

	}

}
