package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

import io.dlock.store.jdbc.dialect.LockDialectSelector;
import io.dlock.store.jdbc.dialect.SqlErrors;

/**
 * Detects the database of the application, and opens a pool like the pool of the
 * application but apart from it.
 */
final class LockDatabaseOpener {

	private static final Log logger = LogFactory.getLog(LockDatabaseOpener.class);

	private final DataSource application;

	private final JdbcLockStoreSettings settings;

	private final LockPools pools;

	LockDatabaseOpener(DataSource dataSource, JdbcLockStoreSettings settings) {
		this.application = outsideTransactions(dataSource);
		this.settings = settings;
		this.pools = new LockPools(this.application, settings);
	}

	/**
	 * A transaction-aware proxy returns the connection of the caller's transaction, whose
	 * rollback would undo the lock.
	 */
	private static DataSource outsideTransactions(DataSource dataSource) {
		if (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null) {
			return proxy.getTargetDataSource();
		}
		return dataSource;
	}

	LockDatabase open() {
		if (!this.pools.isPossible()) {
			if (this.settings.poolSize() > 0) {
				logger.warn("Locks share the application's connections (" + this.application.getClass().getName()
						+ " is not a HikariCP pool): threads that hold one while they wait for a lock can use up the pool. "
						+ "Give the locks a DataSource of their own");
			}
			return describe(this.application, null);
		}
		DataSource probe = this.pools.open(1, (config) -> {
		});
		try {
			LockDatabase probed = describe(probe,
					new LockPlaces(this.settings.poolSize(), this.settings.commandTimeout()));
			return withNewPool(probed);
		}
		finally {
			LockPools.close(probe);
		}
	}

	/**
	 * Open another pool to the same database.
	 * @param database the database
	 * @return the database with its new pool
	 */
	LockDatabase withNewPool(LockDatabase database) {
		String setup = database.dialect().sessionSetup(this.settings.commandTimeout());
		Duration timeout = this.settings.commandTimeout().dividedBy(2);
		return database.withDataSource(this.pools.open(this.settings.poolSize(), (config) -> {
			config.setConnectionInitSql(setup);
			config.setConnectionTimeout(LockPools.connectionTimeout(timeout));
		}));
	}

	HikariDataSource mailboxPool(Consumer<HikariConfig> adaptation) {
		return this.pools.open(1, adaptation);
	}

	private LockDatabase describe(DataSource dataSource, @Nullable LockPlaces places) {
		try (Connection connection = dataSource.getConnection()) {
			DatabaseMetaData metaData = connection.getMetaData();
			return new LockDatabase(LockDialectSelector.select(metaData, this.settings.table()), dataSource, places,
					withoutCredentials(metaData.getURL()) + ", table " + this.settings.table());
		}
		catch (SQLException ex) {
			throw SqlErrors.notConnected(ex);
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
