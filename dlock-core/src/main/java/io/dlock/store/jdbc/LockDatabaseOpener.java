package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;
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
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.jdbc.dialect.LockDialect;
import io.dlock.store.jdbc.dialect.LockDialectSelector;
import io.dlock.store.jdbc.dialect.SqlErrors;

/**
 * Opens the database at the first use, when it can report its product: with a pool like
 * the pool of the application but apart from it, so that threads which hold the
 * application's connections cannot wait for themselves.
 */
final class LockDatabaseOpener implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(LockDatabaseOpener.class);

	private final DataSource application;

	private final JdbcLockStoreSettings settings;

	private final LockPools pools;

	private final ReentrantLock opening = new ReentrantLock();

	private volatile boolean closed;

	private volatile @Nullable LockDatabase opened;

	/** Guarded by {@code opening}. */
	private long poolOpened;

	LockDatabaseOpener(DataSource dataSource, JdbcLockStoreSettings settings) {
		refuseIfRouting(dataSource);
		this.application = outsideTransactions(dataSource);
		this.settings = settings;
		this.pools = new LockPools(this.application, settings);
	}

	/**
	 * A transaction-aware proxy returns the connection of the caller's transaction, whose
	 * rollback would undo the lock, and which auto-commit would end. It may be behind
	 * other proxies.
	 */
	private static DataSource outsideTransactions(DataSource dataSource) {
		DataSource outside = dataSource;
		try {
			while (outside.isWrapperFor(TransactionAwareDataSourceProxy.class)) {
				DataSource target = outside.unwrap(TransactionAwareDataSourceProxy.class).getTargetDataSource();
				if (target == null) {
					break;
				}
				outside = target;
			}
		}
		catch (SQLException ex) {
			logger.debug("The data source does not tell whether it takes part in transactions", ex);
		}
		return outside;
	}

	/**
	 * The locks of all threads are in one database.
	 */
	private static void refuseIfRouting(DataSource dataSource) {
		try {
			if (dataSource.isWrapperFor(AbstractRoutingDataSource.class)) {
				throw new StoreMisconfiguredException(
						"The locks need one database, but their DataSource (%s) may lead each thread to another."
							.formatted(dataSource.getClass().getName()),
						"Give the locks a DataSource of one database, with @DlockDataSource.", null);
			}
		}
		catch (SQLException ex) {
			logger.debug("The data source does not tell whether it is one database", ex);
		}
	}

	/**
	 * The database, if it has been used.
	 */
	@Nullable LockDatabase opened() {
		return this.opened;
	}

	/**
	 * The database, which is opened at the first use.
	 */
	LockDatabase open() {
		LockDatabase current = this.opened;
		if (current != null) {
			return current;
		}
		if (!tryLockOpening()) {
			throw new StoreException(Effect.NONE, false,
					"The lock database does not answer: another thread still opens the first connection", null);
		}
		try {
			current = this.opened;
			if (current == null) {
				if (this.closed) {
					throw new StoreException(Effect.NONE, true, "The store of the locks is closed", null);
				}
				current = openFirst();
				this.opened = current;
				this.poolOpened = System.nanoTime();
			}
			return current;
		}
		finally {
			this.opening.unlock();
		}
	}

	/**
	 * A thread waits no longer for the first connection of another thread than for its
	 * own.
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

	/**
	 * A pool without a connection pauses longer after each failure, up to five seconds:
	 * the locks would fail that long after the database is back. A new pool begins with
	 * short pauses.
	 */
	void replaceIfEmpty(LockDatabase current) {
		if (current.slots() == null || !this.opening.tryLock()) {
			return;
		}
		try {
			LockDatabase latest = this.opened;
			boolean same = latest != null && latest.dataSource() == current.dataSource();
			if (same && !this.closed && LockPools.size(current.dataSource()) == 0
					&& System.nanoTime() - this.poolOpened > this.settings.commandTimeout().multipliedBy(2).toNanos()) {
				this.opened = withNewPool(current);
				this.poolOpened = System.nanoTime();
				LockPools.closeLater(current.dataSource());
			}
		}
		catch (StoreException ex) {
			logger.debug("The pool of the locks could not be replaced, will try again", ex);
		}
		finally {
			this.opening.unlock();
		}
	}

	private LockDatabase openFirst() {
		if (!this.pools.isPossible()) {
			if (this.settings.poolSize() > 0) {
				logger.warn("Locks share the application's connections (" + this.application.getClass().getName()
						+ " is not a HikariCP pool): threads that hold one while they wait for a lock can use up the pool. "
						+ "Give the locks a DataSource of their own");
			}
			LockDatabase shared = describe(this.application, null);
			refuseIfSynchronous(shared);
			return shared;
		}
		DataSource probe = this.pools.open(1, (config) -> {
		});
		try {
			LockDatabase probed = describe(probe,
					new ConnectionSlots(this.settings.poolSize(), this.settings.commandTimeout()));
			return withNewPool(probed);
		}
		finally {
			LockPools.close(probe);
		}
	}

	/**
	 * Its connections are used as they are.
	 */
	private void refuseIfSynchronous(LockDatabase shared) {
		if (!synchronousCommit(shared).isEmpty()) {
			throw new StoreMisconfiguredException(
					"dlock.jdbc.synchronous-commit is for the locks' own connections, but the locks use those of their DataSource (%s)."
						.formatted(this.application.getClass().getName()),
					"Give the locks a pool of their own (dlock.jdbc.pool-size, without @DlockDataSource), or set dlock.jdbc.synchronous-commit=default "
							+ "and the synchronous_commit of these connections.",
					null);
		}
	}

	private String synchronousCommit(LockDatabase database) {
		SynchronousCommit level = this.settings.synchronousCommit();
		return (level == SynchronousCommit.DEFAULT) ? ""
				: database.dialect().synchronousCommit(level.name().toLowerCase(Locale.ROOT));
	}

	private LockDatabase withNewPool(LockDatabase database) {
		String setup = database.dialect().sessionSetup(this.settings.commandTimeout()) + synchronousCommit(database);
		Duration timeout = this.settings.commandTimeout().dividedBy(2);
		return database.withDataSource(this.pools.open(this.settings.poolSize(), (config) -> {
			config.setConnectionInitSql(setup);
			config.setConnectionTimeout(LockPools.connectionTimeout(timeout));
		}));
	}

	HikariDataSource mailboxPool(Consumer<HikariConfig> adaptation) {
		return this.pools.open(1, adaptation);
	}

	private LockDatabase describe(DataSource dataSource, @Nullable ConnectionSlots slots) {
		// the table may be locked
		try (AutoCommitConnection limited = new AutoCommitConnection(dataSource.getConnection(),
				this.settings.commandTimeout())) {
			Connection connection = limited.get();
			DatabaseMetaData metaData = connection.getMetaData();
			LockDialect dialect = LockDialectSelector.select(metaData, this.settings.table(),
					this.settings.wakeUp() != WakeUp.POLL, this.settings.quarantine());
			if (this.settings.wakeUp() == WakeUp.NOTIFY && (slots == null || !dialect.notifies())) {
				throw new StoreMisconfiguredException(
						"The wake-up of waiting processes is 'notify' (dlock.jdbc.wake-up), but "
								+ ((slots == null) ? "the locks have no connections of their own to listen on."
										: metaData.getDatabaseProductName() + " does not notify its clients."),
						"Remove the setting, or set it to 'poll'.", null);
			}
			if (slots != null) {
				limitTime(connection, dialect);
			}
			dialect.verifyQueue(connection, this.settings.table());
			return new LockDatabase(dialect, dataSource, slots,
					withoutCredentials(metaData.getURL()) + ", table " + this.settings.table());
		}
		catch (SQLException ex) {
			throw SqlErrors.notConnected(ex);
		}
	}

	/**
	 * The server ends a wait for the table: a session whose client gives up goes on
	 * waiting.
	 */
	private void limitTime(Connection connection, LockDialect dialect) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(dialect.sessionSetup(this.settings.commandTimeout()));
		}
	}

	String description() {
		LockDatabase current = this.opened;
		return (current != null) ? current.description() : "not connected yet, table " + this.settings.table();
	}

	@Override
	public void close() {
		this.opening.lock();
		try {
			this.closed = true;
			LockDatabase current = this.opened;
			if (current != null && current.slots() != null) {
				LockPools.close(current.dataSource());
			}
		}
		finally {
			this.opening.unlock();
		}
	}

	/**
	 * Remove everything from a URL that may be a password. A password before the address
	 * ends at the last {@code @}, unless that belongs to the parameters: if the two
	 * cannot be distinguished, the address is not shown either.
	 */
	static String withoutCredentials(@Nullable String url) {
		if (url == null) {
			return "jdbc";
		}
		String address = url.contains(":h2:") ? url
				: url.replaceFirst("(?s)//(?:.*[?;].*@|.*\\().*", "//…").replaceFirst("(?s)//.*@", "//");
		return address.replaceFirst("(?s)[?;].*", "");
	}

}
