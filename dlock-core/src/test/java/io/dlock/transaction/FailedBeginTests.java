package io.dlock.transaction;

import org.junit.jupiter.api.Test;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A transaction that cannot begin, as while the database is down.
 */
class FailedBeginTests extends AbstractTransactionTests {

	@Test
	void threadIsNotInsideATransactionThatDidNotBegin() {
		this.transactions.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		Work work = start();
		String database = this.dataSource.getURL();
		this.dataSource.setURL("jdbc:h2:mem:none;IFEXISTS=TRUE");
		assertThatExceptionOfType(CannotCreateTransactionException.class).isThrownBy(() -> inTransaction(this::insert));
		this.dataSource.setURL(database);
		work.run(this::insert);
		assertThat(entries()).isOne();
	}

}
