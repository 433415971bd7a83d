package io.dlock.store.jdbc;

import java.sql.Connection;
import java.util.Map;
import java.util.Optional;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Finds the connection of a transaction on the data source of the locks.
 */
final class TransactionConnections {

	private final DataSource dataSource;

	TransactionConnections(DataSource dataSource) {
		this.dataSource = target(dataSource);
	}

	private static DataSource target(DataSource dataSource) {
		DataSource target = dataSource;
		while (target instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
			target = delegating.getTargetDataSource();
		}
		return target;
	}

	boolean isOn(DataSource other) {
		return target(other) == this.dataSource;
	}

	/**
	 * The transaction has the connection, and the resources of the thread map it to its
	 * data source. A savepoint belongs to a transaction that is not about to end.
	 */
	Optional<Connection> find(TransactionExecution transaction) {
		ConnectionHolder holder = holder(transaction);
		if (holder == null) {
			return Optional.empty();
		}
		for (Map.Entry<Object, Object> resource : TransactionSynchronizationManager.getResourceMap().entrySet()) {
			if (resource.getValue() == holder && resource.getKey() instanceof DataSource bound && isOn(bound)) {
				return Optional.of(holder.getConnection());
			}
		}
		return Optional.empty();
	}

	private static @Nullable ConnectionHolder holder(TransactionExecution transaction) {
		return (transaction instanceof DefaultTransactionStatus status && status.isNewTransaction()
				&& status.hasTransaction() && status.getTransaction() instanceof JdbcTransactionObjectSupport object
				&& object.hasConnectionHolder()) ? object.getConnectionHolder() : null;
	}

}
