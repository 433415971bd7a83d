package io.dlock.store.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.dlock.store.LockStore;
import io.dlock.store.test.LockStoreContract;
import io.dlock.test.Patience;
import io.dlock.test.Pools;

/**
 * The contract on a database.
 */
abstract class AbstractJdbcLockStoreContractTests extends LockStoreContract {

	/** Open while the tests of a class run, since connections take long to open. */
	private static HikariDataSource application;

	private final String schema;

	private final String url;

	private final String username;

	private final String password;

	AbstractJdbcLockStoreContractTests(String schema, String url, String username, String password) {
		this.schema = schema;
		this.url = url;
		this.username = username;
		this.password = password;
	}

	@Override
	protected LockStore createStore() {
		if (application == null) {
			openPool();
		}
		return new JdbcLockStore(application, JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND));
	}

	private void openPool() {
		application = Pools.create(this.url, this.username, this.password);
		application.setMaximumPoolSize(2);
		application.setConnectionTimeout(Patience.COMMAND.toMillis());
		new ResourceDatabasePopulator(new ClassPathResource(this.schema, JdbcLockStore.class)).execute(application);
	}

	@AfterAll
	static void closePool() {
		application.close();
		application = null;
	}

	@Override
	protected void loseEverything() {
		JdbcClient.create(application).sql("DELETE FROM dlock_lock").update();
	}

	@Override
	protected void setLastToken(long token) {
		JdbcClient.create(application)
			.sql("UPDATE dlock_lock SET token = ? WHERE lock_key = ?")
			.params(token, key())
			.update();
	}

}
