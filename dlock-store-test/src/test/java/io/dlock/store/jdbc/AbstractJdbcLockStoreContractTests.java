package io.dlock.store.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.LockStore;
import io.dlock.store.WaitingQueue;
import io.dlock.store.test.LockStoreContract;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.TestDatabase;

/**
 * The contract on a database.
 */
abstract class AbstractJdbcLockStoreContractTests extends LockStoreContract {

	/** Open while the tests of a class run, since connections take long to open. */
	private static HikariDataSource application;

	private final TestDatabase database;

	AbstractJdbcLockStoreContractTests(TestDatabase database) {
		this.database = database;
	}

	@Override
	protected LockStore createStore() {
		if (application == null) {
			openPool();
		}
		return new JdbcLockStore(application, settings());
	}

	@Override
	protected LockStore createStoreOfAnotherProcess() {
		return createStore();
	}

	JdbcLockStoreSettings settings() {
		return JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND);
	}

	static void update(String sql) {
		JdbcClient.create(application).sql(sql).update();
	}

	private void openPool() {
		application = this.database.pool();
		application.setMaximumPoolSize(2);
		application.setConnectionTimeout(Patience.COMMAND.toMillis());
		Pools.createLockTable(application, this.database.platform());
	}

	@AfterAll
	static void closePool() {
		application.close();
		application = null;
	}

	@Override
	protected void loseEverything() {
		update("DELETE FROM dlock_lock");
	}

	@Override
	protected void setLastToken(long token) {
		JdbcClient.create(application)
			.sql("UPDATE dlock_lock SET token = ? WHERE lock_key = ?")
			.params(token, key())
			.update();
	}

	@Override
	protected boolean replaceQueue(WaitingQueue queue) {
		return JdbcClient.create(application)
			.sql("UPDATE dlock_lock SET waiting = ? WHERE lock_key = ?")
			.params(queue.text(), key())
			.update() == 1;
	}

}
