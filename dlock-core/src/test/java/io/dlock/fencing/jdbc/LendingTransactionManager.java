package io.dlock.fencing.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Binds the connection of its transactions as a transaction manager of an object mapper
 * does, or nothing.
 */
final class LendingTransactionManager extends AbstractPlatformTransactionManager {

	private final DataSource dataSource;

	LendingTransactionManager(DataSource dataSource) {
		this.dataSource = dataSource;
	}

	@Override
	protected Object doGetTransaction() {
		return new Object();
	}

	@Override
	protected void doBegin(Object transaction, TransactionDefinition definition) {
		if (this.dataSource == null) {
			return;
		}
		try {
			Connection connection = this.dataSource.getConnection();
			connection.setAutoCommit(false);
			TransactionSynchronizationManager.bindResource(this.dataSource, new ConnectionHolder(connection));
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	protected void doCommit(DefaultTransactionStatus status) {
		end(Connection::commit);
	}

	@Override
	protected void doRollback(DefaultTransactionStatus status) {
		end(Connection::rollback);
	}

	private void end(SqlAction action) {
		if (this.dataSource == null) {
			return;
		}
		ConnectionHolder holder = (ConnectionHolder) TransactionSynchronizationManager.unbindResource(this.dataSource);
		try (Connection connection = holder.getConnection()) {
			action.on(connection);
			connection.setAutoCommit(true);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@FunctionalInterface
	private interface SqlAction {

		void on(Connection connection) throws SQLException;

	}

}
