package io.dlock.autoconfigure.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalyzedException;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.io.ResourceLoader;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

import io.dlock.autoconfigure.DlockBackend;
import io.dlock.autoconfigure.StartupRetry;
import io.dlock.autoconfigure.StartupRetry.UnusableStoreException;
import io.dlock.store.StoreMisconfiguredException;

/**
 * Creates a table with a script, as {@code dlock.jdbc.initialize-schema} says.
 *
 * @param kind the kind of the table, for messages
 * @param nameInScript the name that stands for the table in the script
 * @param table the name of the table
 * @param properties how to initialize the database
 * @param retry how long to try, or {@code null} if the start does not depend on the table
 * @param resourceLoader finds the script
 * @param upgrade changes a table that an earlier version has created
 */
record TableInitializer(String kind, String nameInScript, String table, DatabaseInitializationProperties properties,
		@Nullable StartupRetry retry, ResourceLoader resourceLoader, TableUpgrade upgrade) {

	private static final Log logger = LogFactory.getLog(TableInitializer.class);

	void initialize(DataSource dataSource) {
		if (this.properties.getInitializeSchema() == DatabaseInitializationMode.NEVER) {
			return;
		}
		StartupRetry attempts = (this.retry != null) ? this.retry : new StartupRetry(Duration.ZERO);
		try {
			attempts.use(() -> runScript(outsideTransactions(dataSource)));
		}
		catch (StoreMisconfiguredException ex) {
			if (this.retry != null) {
				throw new FailureAnalyzedException(ex.description(), ex.action(), ex);
			}
			logger.warn(ex.description());
		}
		catch (UnusableStoreException ex) {
			String problem = "dlock cannot create its %s table '%s': %s".formatted(this.kind, this.table,
					TableScriptInitializer.rootMessage(ex.last()));
			if (this.retry != null) {
				throw ex.analyzed(problem, DlockBackend.JDBC);
			}
			logger.warn(problem);
		}
	}

	/**
	 * A transaction-aware proxy returns the connection of the caller's transaction, which
	 * some databases commit before they create a table.
	 */
	private static DataSource outsideTransactions(DataSource dataSource) {
		TransactionAwareDataSourceProxy proxy = DataSourceUnwrapper.unwrap(dataSource,
				TransactionAwareDataSourceProxy.class);
		DataSource target = (proxy != null) ? proxy.getTargetDataSource() : null;
		return (target != null) ? outsideTransactions(target) : dataSource;
	}

	private void runScript(DataSource dataSource) {
		TableScriptInitializer script = new TableScriptInitializer(dataSource, this.properties, this.nameInScript,
				this.table);
		script.setResourceLoader(this.resourceLoader);
		try {
			if (!script.initializeDatabase()) {
				return;
			}
		}
		catch (IllegalStateException ex) {
			// of Boot, if there is no such script
			throw new StoreMisconfiguredException(
					"dlock cannot create its %s table '%s': %s.".formatted(this.kind, this.table, ex.getMessage()),
					"Correct dlock.jdbc.platform or dlock.jdbc.schema, or create the table yourself and set dlock.jdbc.initialize-schema=never.",
					ex);
		}
		upgrade(dataSource);
	}

	private void upgrade(DataSource dataSource) {
		try (Connection connection = dataSource.getConnection()) {
			boolean autoCommit = connection.getAutoCommit();
			connection.setAutoCommit(true);
			try {
				this.upgrade.run(connection, this.table);
			}
			finally {
				connection.setAutoCommit(autoCommit);
			}
		}
		catch (SQLException ex) {
			logger.info("Could not check the columns of table '%s'".formatted(this.table), ex);
		}
	}

	/**
	 * Changes a table.
	 */
	@FunctionalInterface
	interface TableUpgrade {

		void run(Connection connection, String table) throws SQLException;

	}

}
