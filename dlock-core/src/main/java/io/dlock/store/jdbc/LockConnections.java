package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StoreCongestedException;
import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.jdbc.LockPlaces.Place;

/**
 * Where the store gets its connections from: a small pool of its own, like the
 * application's but apart from it, so that threads which hold the application's
 * connections can not wait for themselves. Opened at the first use, when the database can
 * be asked what it is.
 */
final class LockConnections implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(LockConnections.class);

	private final DataSource application;

	private final JdbcLockStoreSettings settings;

	private final LockPools pools;

	private final AbandonedSessions abandoned;

	private final ReentrantLock opening = new ReentrantLock();

	private volatile boolean closed;

	private volatile @Nullable Opened opened;

	private final AtomicLong refreshed = new AtomicLong(System.nanoTime());

	/** How many more connections of the application may be dropped in this period. */
	private final AtomicInteger evictable = new AtomicInteger();

	/** Guarded by the lock for opening. */
	private long poolOpened;

	LockConnections(DataSource dataSource, JdbcLockStoreSettings settings) {
		this.application = outsideTransactions(dataSource);
		this.settings = settings;
		this.pools = new LockPools(this.application, settings);
		this.abandoned = new AbandonedSessions(this::endSessions, halfTimeout());
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
		try (Place place = current.enter(renewal)) {
			return execute(current, place, renewal, operation, work);
		}
	}

	private <T> T execute(Opened current, Place place, boolean renewal, String operation, Work<T> work) {
		try (AutoCommitConnection connection = connect(current, renewal, System.nanoTime())) {
			return run(current, place, connection.get(), operation, work);
		}
	}

	private <T> T run(Opened current, Place place, Connection connection, String operation, Work<T> work) {
		String session = identify(current, connection);
		try {
			T result = repeatOnConflict(current.dialect(), connection, work);
			place.answered();
			return result;
		}
		catch (SQLException ex) {
			StoreException failure = SqlErrors.translate(operation, ex);
			if (failure.effect() == Effect.UNKNOWN) {
				this.abandoned.add(session, place);
				LockPools.evict(current.dataSource(), connection);
			}
			else {
				place.answered();
				leaveIfReadOnly(current, connection, ex);
			}
			throw failure;
		}
	}

	private String identify(Opened current, Connection connection) {
		if (current.places() == null) {
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
	 * A server that became read-only keeps its connections, while the address may lead to
	 * another one by now. If it does not, new connections are of no more use: within a
	 * command timeout there are as many new ones as there were connections.
	 */
	private void leaveIfReadOnly(Opened current, Connection connection, SQLException ex) {
		if (!SqlErrors.isReadOnly(ex)) {
			return;
		}
		boolean first = isFirstInItsPeriod();
		if (current.places() == null) {
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
		return execute(open(), Place.uncounted(), true, "end sessions",
				(dialect, connection) -> dialect.endSessions(connection, sessions));
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

	/**
	 * The time left for the work of a call that has a place. Half of the time of a call
	 * is for the connection, and the time that the connection took is not there for the
	 * work. At least a quarter is left, because a connection is of no use without time
	 * for the work. A renewal has all of its time, because no caller waits for it.
	 */
	private Duration timeLeft(boolean renewal, long begin) {
		Duration timeout = this.settings.commandTimeout();
		Duration left = timeout.minusNanos(renewal ? 0 : System.nanoTime() - begin);
		Duration least = timeout.dividedBy(4);
		return (left.compareTo(least) < 0) ? least : left;
	}

	private Duration halfTimeout() {
		return this.settings.commandTimeout().dividedBy(2);
	}

	private AutoCommitConnection connect(Opened current, boolean renewal, long begin) {
		Connection connection;
		try {
			connection = current.dataSource().getConnection();
		}
		catch (SQLException ex) {
			replaceIfEmpty(current);
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
	 * What the database is, for work on a connection of somebody else.
	 * @return its dialect
	 */
	JdbcLockDialect dialect() {
		return open().dialect();
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
	 * @return the pool
	 */
	HikariDataSource mailboxPool(Consumer<HikariConfig> adaptation) {
		return this.pools.open(1, adaptation);
	}

	/**
	 * Whether there is a pool of our own.
	 * @return whether there can be another one for a mailbox
	 */
	boolean areOwn() {
		return open().places() != null;
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
				this.poolOpened = System.nanoTime();
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
		if (!this.pools.isPossible()) {
			if (this.settings.poolSize() > 0) {
				logger.warn("Locks share the application's connections (" + this.application.getClass().getName()
						+ " is not a HikariCP pool): threads that hold one while they wait for a lock can use up the pool. "
						+ "Give the locks a DataSource of their own");
			}
			Database database = ask(this.application);
			return new Opened(database.dialect(), this.application, null, database.description());
		}
		DataSource probe = this.pools.open(1, (config) -> {
		});
		try {
			Database database = ask(probe);
			return new Opened(database.dialect(), ownPool(database.dialect()),
					new LockPlaces(this.settings.poolSize(), this.settings.commandTimeout()), database.description());
		}
		finally {
			LockPools.close(probe);
		}
	}

	private DataSource ownPool(JdbcLockDialect dialect) {
		String setup = dialect.sessionSetup(this.settings.commandTimeout());
		return this.pools.open(this.settings.poolSize(), (config) -> {
			config.setConnectionInitSql(setup);
			config.setConnectionTimeout(LockPools.connectionTimeout(halfTimeout()));
		});
	}

	/**
	 * A pool without a connection pauses longer after each failure to open one, up to
	 * five seconds: that long the locks would be out after the database is back. A new
	 * pool begins with short pauses.
	 */
	private void replaceIfEmpty(Opened current) {
		if (current.places() == null || !this.opening.tryLock()) {
			return;
		}
		try {
			Opened latest = this.opened;
			boolean same = latest != null && latest.dataSource() == current.dataSource();
			if (same && !this.closed && LockPools.isEmpty(current.dataSource())
					&& System.nanoTime() - this.poolOpened > this.settings.commandTimeout().multipliedBy(2).toNanos()) {
				this.opened = current.with(ownPool(current.dialect()));
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

	private Database ask(DataSource dataSource) {
		try (Connection connection = dataSource.getConnection()) {
			DatabaseMetaData metaData = connection.getMetaData();
			return new Database(JdbcLockDialect.of(metaData, this.settings.table()),
					withoutCredentials(metaData.getURL()) + ", table " + this.settings.table());
		}
		catch (SQLException ex) {
			throw SqlErrors.notConnected(ex);
		}
	}

	/**
	 * The URL without anything that may be a password. A password before the address ends
	 * at the last {@code @}, unless that belongs to the parameters: where the two cannot
	 * be told apart, the address is not shown either.
	 */
	static String withoutCredentials(@Nullable String url) {
		if (url == null) {
			return "jdbc";
		}
		String address = url.contains(":h2:") ? url
				: url.replaceFirst("(?s)//(?:.*[?;].*@|.*\\().*", "//…").replaceFirst("(?s)//.*@", "//");
		return address.replaceFirst("(?s)[?;].*", "");
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
		this.abandoned.close();
		this.opening.lock();
		try {
			this.closed = true;
			Opened current = this.opened;
			if (current != null && current.places() != null) {
				LockPools.close(current.dataSource());
			}
		}
		finally {
			this.opening.unlock();
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
	 * @param places the places among the connections, or {@code null} if the pool belongs
	 * to the application
	 * @param description the database, for people
	 */
	private record Opened(JdbcLockDialect dialect, DataSource dataSource, @Nullable LockPlaces places,
			String description) {

		Opened with(DataSource other) {
			return new Opened(this.dialect, other, this.places, this.description);
		}

		Place enter(boolean renewal) {
			return (this.places != null) ? this.places.enter(renewal) : Place.uncounted();
		}

	}

}
