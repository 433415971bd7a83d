package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.NoSuchElementException;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import com.zaxxer.hikari.util.Credentials;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

import io.dlock.store.StoreException;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.jdbc.dialect.SqlErrors;

/**
 * HikariCP pools like the pool of the application, but apart from it. Without HikariCP on
 * the class path there are none.
 */
final class LockPools {

	private static final Log logger = LogFactory.getLog(LockPools.class);

	private static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			LockPools.class.getClassLoader());

	/**
	 * The pool may be large, because a database commits the transactions of many
	 * connections together, but shrinks when it is idle.
	 */
	private static final long IDLE_TIMEOUT = 60_000;

	/** The shortest timeout HikariCP accepts. */
	private static final long HIKARI_MIN_TIMEOUT = 250;

	/**
	 * Some drivers round the timeout of {@code isValid} up to a second; a statement ends
	 * with the validation timeout.
	 */
	private static final String VALIDATION = "SELECT 1";

	/** HikariCP's switch for pools that override the getters of user and password. */
	private static final boolean OVERRIDDEN_GETTERS = Boolean
		.getBoolean("com.zaxxer.hikari.legacy.supportUserPassDataSourceOverride");

	private final DataSource application;

	private final JdbcLockStoreSettings settings;

	private volatile @Nullable HikariDataSource hikari;

	LockPools(DataSource application, JdbcLockStoreSettings settings) {
		this.application = application;
		this.settings = settings;
	}

	/**
	 * Whether the store can have a pool of its own: the pool of the application reports
	 * how to connect, and is not to be shared.
	 * @return whether to {@link #open}
	 */
	boolean isPossible() {
		try {
			return HIKARI && this.settings.poolSize() > 0 && this.application.isWrapperFor(HikariDataSource.class);
		}
		catch (SQLException ex) {
			throw SqlErrors.notConnected(ex);
		}
	}

	/**
	 * Open a pool like the application's.
	 * @param size the largest number of connections
	 * @param adaptation changes the configuration
	 * @return the pool
	 */
	HikariDataSource open(int size, Consumer<HikariConfig> adaptation) {
		HikariConfig config = new HikariConfig();
		HikariDataSource pool = hikari();
		pool.copyStateTo(config);
		config.setCredentialsProvider(() -> credentials(pool));
		config.setPoolName("dlock");
		config.setMaximumPoolSize(size);
		config.setMinimumIdle(1);
		config.setIdleTimeout((size > 1) ? IDLE_TIMEOUT : 0);
		config.setConnectionTimeout(connectionTimeout(this.settings.commandTimeout()));
		config.setValidationTimeout(validationTimeout(this.settings.commandTimeout()));
		config.setConnectionTestQuery(VALIDATION);
		config.setInitializationFailTimeout(-1);
		config.setLeakDetectionThreshold(0);
		config.setRegisterMbeans(false);
		withoutMeters(config);
		config.setAutoCommit(true);
		config.setReadOnly(false);
		config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		config.setConnectionInitSql(null);
		adaptation.accept(config);
		DriverOptions.limitLogin(config, loginTimeout(config));
		try {
			return LockPool.create(config);
		}
		catch (RuntimeException ex) {
			// the application's credentials are asked for here, on the calling thread
			throw new StoreException(Effect.NONE, false, "Could not open a pool of lock connections (" + ex + ")", ex);
		}
	}

	/**
	 * Meters and health checks are registered by the name of a pool, which the pools of
	 * the locks have in common. A setter is refused while the other has a value.
	 */
	private static void withoutMeters(HikariConfig config) {
		if (config.getMetricRegistry() != null) {
			config.setMetricRegistry(null);
		}
		else {
			config.setMetricsTrackerFactory(null);
		}
		config.setHealthCheckRegistry(null);
	}

	/**
	 * The current credentials of a pool, found as HikariCP finds them: passwords change
	 * and tokens expire while it runs.
	 */
	private static Credentials credentials(HikariDataSource pool) {
		HikariCredentialsProvider provider = pool.getCredentialsProvider();
		if (provider != null) {
			return provider.getCredentials();
		}
		return OVERRIDDEN_GETTERS ? Credentials.of(pool.getUsername(), pool.getPassword()) : pool.getCredentials();
	}

	/**
	 * The time to wait for a connection of a pool.
	 * @param timeout the time to wait if HikariCP accepts it
	 * @return the time in milliseconds
	 */
	static long connectionTimeout(Duration timeout) {
		return Math.max(timeout.toMillis(), HIKARI_MIN_TIMEOUT);
	}

	/**
	 * The time in which a connection answers that is new, or has been idle: HikariCP
	 * takes it for dead otherwise, and its locks would not be renewed.
	 * @param timeout the command timeout
	 * @return the time in milliseconds, which leaves most of the timeout to the command
	 */
	static long validationTimeout(Duration timeout) {
		return Math.max(timeout.toMillis() / 4, HIKARI_MIN_TIMEOUT);
	}

	/**
	 * The time in which the pool opens a connection, in seconds as HikariCP rounds it.
	 */
	private static Duration loginTimeout(HikariConfig config) {
		return Duration.ofSeconds(Math.max(1, Math.round(config.getConnectionTimeout() / 1000.0)));
	}

	/**
	 * The pool of the application, possibly behind wrappers. A wrapper may lead each
	 * thread to another pool: the locks stay with the first one until it is closed.
	 */
	private HikariDataSource hikari() {
		HikariDataSource known = this.hikari;
		if (known == null || known.isClosed()) {
			try {
				known = this.application.unwrap(HikariDataSource.class);
			}
			catch (SQLException ex) {
				throw SqlErrors.notConnected(ex);
			}
			this.hikari = known;
		}
		return known;
	}

	/**
	 * The number of connections of a pool, used or not.
	 * @param dataSource the pool, or any other data source
	 * @return the number, or zero if it is not known
	 */
	static int size(DataSource dataSource) {
		HikariPoolMXBean connections = connectionsOf(hikari(dataSource));
		return (connections != null) ? connections.getTotalConnections() : 0;
	}

	/**
	 * Whether all connections that a pool may have are in use.
	 * @param dataSource the pool, or any other data source
	 * @param failure its failure to return a connection
	 * @return whether the pool is known to be exhausted
	 */
	static boolean isExhausted(DataSource dataSource, SQLException failure) {
		HikariDataSource pool = hikari(dataSource);
		HikariPoolMXBean connections = connectionsOf(pool);
		return (pool != null && connections != null) ? connections.getActiveConnections() >= pool.getMaximumPoolSize()
				: isTimeoutOfAPool(failure);
	}

	/**
	 * Other pools (DBCP, Tomcat) have no exception in common. A pool that could not
	 * connect reports the error of the driver.
	 */
	private static boolean isTimeoutOfAPool(SQLException ex) {
		boolean waited = ex instanceof SQLTransientConnectionException || ex instanceof SQLTimeoutException
				|| ex.getCause() instanceof NoSuchElementException
				|| ex.getClass().getSimpleName().equals("PoolExhaustedException");
		return waited && ex.getSQLState() == null && !(ex.getCause() instanceof SQLException);
	}

	private static @Nullable HikariPoolMXBean connectionsOf(@Nullable HikariDataSource pool) {
		return (pool != null) ? pool.getHikariPoolMXBean() : null;
	}

	private static @Nullable HikariDataSource hikari(DataSource dataSource) {
		try {
			return (HIKARI && dataSource.isWrapperFor(HikariDataSource.class))
					? dataSource.unwrap(HikariDataSource.class) : null;
		}
		catch (SQLException ex) {
			logger.debug("The data source does not tell which pool it is", ex);
			return null;
		}
	}

	/**
	 * Drop all connections of a pool, used ones when they are returned.
	 * @param dataSource the pool
	 */
	static void evictAll(DataSource dataSource) {
		HikariPoolMXBean connections = connectionsOf(hikari(dataSource));
		if (connections != null) {
			connections.softEvictConnections();
		}
	}

	/**
	 * Drop a connection that failed: a pool recognizes a broken one by some SQL states
	 * only, and not by the states of H2.
	 * @param dataSource the pool, or any other data source
	 */
	static void evict(DataSource dataSource, Connection connection) {
		HikariDataSource pool = hikari(dataSource);
		if (pool != null) {
			pool.evictConnection(connection);
		}
	}

	/**
	 * Close a pool.
	 * @param dataSource the pool
	 */
	static void close(DataSource dataSource) {
		Thread closing = closeLater(dataSource);
		boolean interrupted = false;
		while (closing.isAlive()) {
			try {
				closing.join();
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Close a pool on a thread of its own: an interrupt of the caller would leak threads
	 * of the pool.
	 * @param dataSource the pool
	 */
	static Thread closeLater(DataSource dataSource) {
		Thread closing = new Thread(null, ((HikariDataSource) dataSource)::close, "dlock-pool-closing", 0, false);
		closing.setDaemon(true);
		closing.start();
		return closing;
	}

}
