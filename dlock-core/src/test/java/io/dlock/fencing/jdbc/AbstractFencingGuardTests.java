package io.dlock.fencing.jdbc;

import java.sql.Connection;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.fencing.StaleTokenException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * The writes that the guard of every database refuses, and those that it lets pass, with
 * the transactions that it takes part in.
 */
@Timeout(120)
abstract class AbstractFencingGuardTests extends AbstractFencingConcurrencyTests {

	@Test
	void checkOutsideAnyTransactionIsAnErrorThatSaysSo() {
		assertThatIllegalStateException().isThrownBy(() -> this.guard.check(this.resource, TOKEN))
			.withMessageContaining(this.resource)
			.withMessageContaining("@Transactional");
		check(1);
	}

	@Test
	void checkInATransactionOfAnotherDatabaseIsAnErrorThatSaysSo() {
		SimpleDriverDataSource other = new SimpleDriverDataSource(new org.h2.Driver(), "jdbc:h2:mem:");
		TransactionTemplate transactionOfOther = new TransactionTemplate(new DataSourceTransactionManager(other));
		assertThatIllegalStateException()
			.isThrownBy(
					() -> transactionOfOther.executeWithoutResult((status) -> this.guard.check(this.resource, TOKEN)))
			.withMessageContaining("none on this database");
		check(1);
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).as("connections not given back").isZero();
	}

	/**
	 * Such a connection looks as if it were in a transaction, and would be rolled back.
	 */
	@Test
	void transactionOfAnotherDatabaseIsNoticedThoughNoConnectionIsInAutoCommitMode() {
		this.pool.close();
		this.pool = manualPool();
		FencingGuard onManual = new FencingGuard(this.pool);
		SimpleDriverDataSource other = new SimpleDriverDataSource(new org.h2.Driver(), "jdbc:h2:mem:");
		TransactionTemplate transactionOfOther = new TransactionTemplate(new DataSourceTransactionManager(other));
		transactionOfOther.executeWithoutResult((status) -> {
			refusedWithoutTransaction(onManual);
			JdbcClient.create(this.pool).sql("SELECT 1").query(Integer.class).single();
			refusedWithoutTransaction(onManual);
		});
		TransactionTemplate own = new TransactionTemplate(new DataSourceTransactionManager(this.pool));
		own.executeWithoutResult((status) -> onManual.check(this.resource, TOKEN));
		transactionOfOther.executeWithoutResult(
				(status) -> own.executeWithoutResult((nested) -> onManual.check(this.resource, TOKEN + 1)));
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> own.executeWithoutResult((status) -> onManual.check(this.resource, TOKEN)));
	}

	private HikariDataSource manualPool() {
		HikariDataSource manual = this.database.pool();
		manual.setAutoCommit(false);
		return manual;
	}

	private void refusedWithoutTransaction(FencingGuard unprotected) {
		assertThatIllegalStateException().isThrownBy(() -> unprotected.check(this.resource, TOKEN))
			.withMessageContaining("none on this database");
	}

	/**
	 * JPA and Hibernate do so.
	 */
	@Test
	void checkTakesPartInATransactionThatLendsItsConnection() {
		TransactionTemplate lending = new TransactionTemplate(new LendingTransactionManager(this.pool));
		lending.executeWithoutResult((status) -> this.guard.check(this.resource, TOKEN + 1));
		lending.executeWithoutResult((status) -> {
			this.guard.check(this.resource, TOKEN + 9);
			status.setRollbackOnly();
		});
		check(TOKEN + 1);
		refused(TOKEN, TOKEN + 1);
		SimpleDriverDataSource other = new SimpleDriverDataSource(new org.h2.Driver(), "jdbc:h2:mem:");
		try (HikariDataSource manual = manualPool()) {
			new TransactionTemplate(new LendingTransactionManager(other))
				.executeWithoutResult((status) -> refusedWithoutTransaction(new FencingGuard(manual)));
		}
	}

	/**
	 * JTA binds no connection; the pool hands out those of the transaction.
	 */
	@Test
	void checkTakesPartInATransactionThatBindsNoConnection() {
		try (HikariDataSource manual = manualPool()) {
			FencingGuard onManual = new FencingGuard(manual);
			TransactionTemplate unbound = new TransactionTemplate(new LendingTransactionManager(null));
			assertThatNoException().isThrownBy(() -> unbound.executeWithoutResult((status) -> {
				onManual.check(this.resource, TOKEN);
				onManual.check(this.resource, TOKEN);
			}));
		}
	}

	@Test
	void checkTakesPartInTheTransactionBehindAProxy() {
		FencingGuard onProxy = new FencingGuard(new TransactionAwareDataSourceProxy(this.pool));
		this.transaction.executeWithoutResult((status) -> {
			onProxy.check(this.resource, TOKEN + 9);
			status.setRollbackOnly();
		});
		check(TOKEN);
	}

	@Test
	void guardLeavesTheConnectionAsItWas() throws Exception {
		check(TOKEN);
		try (Connection connection = this.pool.getConnection()) {
			assertThat(connection.getAutoCommit()).isTrue();
		}
	}

	/**
	 * One of a message broker, for example: each write of the guard would be committed at
	 * once.
	 */
	@Test
	void transactionOfSomethingThatIsNoDatabaseIsNoticed() {
		TransactionTemplate unbound = new TransactionTemplate(new LendingTransactionManager(null));
		unbound.executeWithoutResult((status) -> refusedWithoutTransaction(this.guard));
		check(1);
	}

}
