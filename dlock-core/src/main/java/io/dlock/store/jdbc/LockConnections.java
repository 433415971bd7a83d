package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.util.ClassUtils;

import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;

/**
 * Where the store gets its connections from: a small pool of its own, like the
 * application's but apart from it, so that threads which hold the application's
 * connections can not wait for themselves. Opened at the first use, when the database can
 * be asked what it is.
 */
final class LockConnections implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(LockConnections.class);

	private static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			LockConnections.class.getClassLoader());

	/**
	 * The pool is large, because a database commits what many connections bring at once
	 * together, but keeps that for as long as it is of use only.
	 */
	private static final long IDLE_TIMEOUT = 60_000;

	/** The shortest timeout HikariCP accepts. */
	private static final long HIKARI_MIN_TIMEOUT = 250;

	private final DataSource application;

	private final JdbcLockStoreSettings settings;

	private final ReentrantLock opening = new ReentrantLock();

	private volatile @Nullable Opened opened;

	LockConnections(DataSource dataSource, JdbcLockStoreSettings settings) {
		this.application = outsideTransactions(dataSource);
		this.settings = settings;
	}

	/**
	 * A transaction-aware proxy would hand out the connection of the caller's
	 * transaction, whose rollback would undo the lock.
	 */
	private static DataSource outsideTransactions(DataSource dataSource) {
		if (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null) {
			return proxy.getTargetDataSource();
		}
		return dataSource;
	}

	/**
	 * Run some work on a connection in auto-commit mode.
	 * @param renewal whether this is a renewal, for which capacity is reserved
	 * @param operation what the work is, for messages
	 * @param work the work; repeated when it met a conflict that the database resolved
	 * @return what the work returned
	 */
	<T> T execute(boolean renewal, String operation, Work<T> work) {
		Opened current = open();
		current.enter(renewal, this.settings.commandTimeout());
		try (AutoCommitConnection connection = connect(current)) {
			return run(current, connection.get(), operation, work);
		}
		finally {
			current.leave(renewal);
		}
	}

	private static <T> T run(Opened current, Connection connection, String operation, Work<T> work) {
		try {
			return repeatOnConflict(current.dialect(), connection, work);
		}
		catch (SQLException ex) {
			StoreException failure = SqlErrors.translate(operation, ex);
			if (failure.effect() == Effect.UNKNOWN) {
				evict(current, connection);
			}
			throw failure;
		}
	}

	private static <T> T repeatOnConflict(JdbcLockDialect dialect, Connection connection, Work<T> work)
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

	private AutoCommitConnection connect(Opened current) {
		Connection connection;
		try {
			connection = current.dataSource().getConnection();
		}
		catch (SQLException ex) {
			throw SqlErrors.notConnected(ex);
		}
		try {
			return new AutoCommitConnection(connection, this.settings.commandTimeout());
		}
		catch (SQLException ex) {
			evict(current, connection);
			throw SqlErrors.notConnected(ex);
		}
	}

	/**
	 * A pool knows a broken connection by some SQL states only, and not by H2's.
	 */
	private static void evict(Opened current, Connection connection) {
		if (HIKARI && current.dataSource() instanceof HikariDataSource pool) {
			pool.evictConnection(connection);
		}
	}

	/**
	 * Listen at an address, on a connection beside the pool.
	 * @param address the address
	 * @param onTurn whom to tell
	 * @return the mailbox, or {@code null} if the database sends no messages or the
	 * connections are not ours
	 */
	@Nullable Mailbox openMailbox(MailboxAddress address, Consumer<String> onTurn) {
		try {
			return open().dialect().openMailbox(this, address, onTurn);
		}
		catch (SQLException ex) {
			throw SqlErrors.notConnected(ex);
		}
	}

	/**
	 * A pool of one connection, for a mailbox.
	 * @param adaptation what is special about that connection
	 * @return the pool, or {@code null} if the connections are not ours
	 */
	@Nullable HikariDataSource mailboxPool(Consumer<HikariConfig> adaptation) {
		HikariDataSource hikari = (open().others() != null) ? hikari() : null;
		return (hikari != null) ? pool(hikari, 1, adaptation) : null;
	}

	private Opened open() {
		Opened current = this.opened;
		if (current != null) {
			return current;
		}
		if (!tryLockOpening()) {
			throw new StoreException(Effect.NONE, false, "The lock database does not answer", null);
		}
		try {
			current = this.opened;
			if (current == null) {
				current = createOpened();
				this.opened = current;
			}
			return current;
		}
		finally {
			this.opening.unlock();
		}
	}

	/**
	 * Nobody waits longer for the first connection of another thread than for their own.
	 */
	private boolean tryLockOpening() {
		try {
			return this.opening.tryLock(this.settings.commandTimeout().toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	private Opened createOpened() {
		HikariDataSource hikari = hikari();
		if (hikari == null) {
			if (this.settings.poolSize() > 0) {
				logger.warn("Locks share the application's connections (" + this.application.getClass().getName()
						+ " is not a HikariCP pool): threads that hold one while they wait for a lock can use up the pool. "
						+ "Give the locks a DataSource of their own");
			}
			Database database = ask(this.application);
			return new Opened(database.dialect(), this.application, null, database.description());
		}
		Database database;
		try (HikariDataSource probe = pool(hikari, 1, (config) -> {
		})) {
			database = ask(probe);
		}
		String setup = database.dialect().sessionSetup(this.settings.commandTimeout());
		return new Opened(database.dialect(),
				pool(hikari, this.settings.poolSize(), (config) -> config.setConnectionInitSql(setup)),
				new Semaphore(this.settings.poolSize() - 1), database.description());
	}

	/**
	 * The application's pool, whatever it is wrapped in.
	 */
	private @Nullable HikariDataSource hikari() {
		try {
			boolean possible = HIKARI && this.settings.poolSize() > 0
					&& this.application.isWrapperFor(HikariDataSource.class);
			return possible ? this.application.unwrap(HikariDataSource.class) : null;
		}
		catch (SQLException ex) {
			throw SqlErrors.notConnected(ex);
		}
	}

	private Database ask(DataSource dataSource) {
		try (Connection connection = dataSource.getConnection()) {
			DatabaseMetaData metaData = connection.getMetaData();
			return new Database(JdbcLockDialect.of(metaData, this.settings.table()),
					withoutParameters(metaData.getURL()) + ", table " + this.settings.table());
		}
		catch (SQLException ex) {
			throw SqlErrors.notConnected(ex);
		}
	}

	private HikariDataSource pool(HikariDataSource application, int size, Consumer<HikariConfig> adaptation) {
		HikariConfig config = new HikariConfig();
		application.copyStateTo(config);
		config.setPoolName("dlock");
		config.setMaximumPoolSize(size);
		config.setMinimumIdle(1);
		config.setIdleTimeout((size > 1) ? IDLE_TIMEOUT : 0);
		config.setConnectionTimeout(Math.max(this.settings.commandTimeout().toMillis(), HIKARI_MIN_TIMEOUT));
		config.setValidationTimeout(HIKARI_MIN_TIMEOUT);
		config.setInitializationFailTimeout(-1);
		config.setLeakDetectionThreshold(0);
		config.setAutoCommit(true);
		config.setReadOnly(false);
		config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		config.setConnectionInitSql(null);
		adaptation.accept(config);
		return new HikariDataSource(config);
	}

	/**
	 * What comes after the address may be a password.
	 */
	private static String withoutParameters(@Nullable String url) {
		if (url == null) {
			return "jdbc";
		}
		return url.replaceFirst("[?;].*$", "").replaceFirst("//[^/@]*@", "//");
	}

	Duration commandTimeout() {
		return this.settings.commandTimeout();
	}

	String description() {
		Opened current = this.opened;
		return (current != null) ? current.description() : "not connected yet, table " + this.settings.table();
	}

	@Override
	public void close() {
		Opened current = this.opened;
		if (current != null && current.dataSource() != this.application
				&& current.dataSource() instanceof HikariDataSource own) {
			own.close();
		}
	}

	/**
	 * Some work on a connection.
	 *
	 * @param <T> the result
	 */
	@FunctionalInterface
	interface Work<T> {

		T run(JdbcLockDialect dialect, Connection connection) throws SQLException;

	}

	/**
	 * What the database is.
	 *
	 * @param dialect its dialect
	 * @param description where it is, for people
	 */
	private record Database(JdbcLockDialect dialect, String description) {

	}

	/**
	 * What is known once the database has answered.
	 *
	 * @param dialect the dialect
	 * @param dataSource where connections come from
	 * @param others how many connections may be used by other things than renewals, or
	 * {@code null} if the pool is not ours to divide
	 * @param description the database, for people
	 */
	private record Opened(JdbcLockDialect dialect, DataSource dataSource, @Nullable Semaphore others,
			String description) {

		void enter(boolean renewal, Duration timeout) {
			if (this.others == null || renewal) {
				return;
			}
			try {
				if (this.others.tryAcquire(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
					return;
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new StoreException(Effect.NONE, false, "Interrupted while waiting for a lock connection", ex);
			}
			throw new StoreException(Effect.NONE, false, "No lock connection became free within " + timeout.toMillis()
					+ " ms: the database is slow or the pool of the locks too small", null);
		}

		void leave(boolean renewal) {
			if (this.others != null && !renewal) {
				this.others.release();
			}
		}

	}

}
