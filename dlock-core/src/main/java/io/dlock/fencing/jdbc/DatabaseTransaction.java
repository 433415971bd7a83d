package io.dlock.fencing.jdbc;

import java.sql.Connection;
import java.util.List;
import java.util.Objects;

import javax.sql.DataSource;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Whether the calling thread is in a transaction of one database, and not only of
 * something else.
 */
final class DatabaseTransaction {

	/** Begins nothing, and tells whether there is something. */
	private static final TransactionDefinition EXISTING = new DefaultTransactionDefinition(
			TransactionDefinition.PROPAGATION_SUPPORTS);

	private final JdbcTemplate jdbc;

	private final DataSourceTransactionManager transactions;

	DatabaseTransaction(DataSource dataSource) {
		this.jdbc = new JdbcTemplate(dataSource);
		this.transactions = transactionsOf(dataSource);
	}

	private static DataSourceTransactionManager transactionsOf(DataSource dataSource) {
		DataSourceTransactionManager transactions = new DataSourceTransactionManager(dataSource);
		transactions.setTransactionSynchronization(DataSourceTransactionManager.SYNCHRONIZATION_NEVER);
		return transactions;
	}

	/**
	 * A connection in auto-commit mode takes part in no transaction of this database,
	 * although the thread has one. A pool may also turn auto-commit off for all its
	 * connections, so that the mode alone does not tell.
	 */
	boolean isActive() {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& (isIn(this.transactions) || !isInOneOfAnother()) && !isAutoCommit();
	}

	/**
	 * Whether the transaction of the thread is that of another database. A transaction of
	 * JTA belongs to no particular connection, and so to none of them.
	 */
	private boolean isInOneOfAnother() {
		for (Object key : List.copyOf(TransactionSynchronizationManager.getResourceMap().keySet())) {
			if (key instanceof DataSource other && isIn(transactionsOf(other))) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Whether the transaction of the thread is one of this database. The connection that
	 * JPA or Hibernate lends is not marked as synchronized. One that was merely opened
	 * during a transaction of something else is marked, but has no transaction itself.
	 */
	private static boolean isIn(DataSourceTransactionManager transactions) {
		DataSource dataSource = Objects.requireNonNull(transactions.getDataSource());
		return TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder holder
				&& (!holder.isSynchronizedWithTransaction() || transactions.getTransaction(EXISTING).hasTransaction());
	}

	private boolean isAutoCommit() {
		return Boolean.TRUE.equals(this.jdbc.execute((ConnectionCallback<Boolean>) Connection::getAutoCommit));
	}

}
