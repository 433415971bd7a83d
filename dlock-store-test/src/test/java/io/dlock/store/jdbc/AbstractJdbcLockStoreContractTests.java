package io.dlock.store.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.dlock.store.LockStore;
import io.dlock.store.test.LockStoreContract;
import io.dlock.test.Patience;

/**
 * The contract on a database.
 */
abstract class AbstractJdbcLockStoreContractTests extends LockStoreContract {

	private final String schema;

	private final HikariDataSource application = new HikariDataSource();

	AbstractJdbcLockStoreContractTests(String schema, String url, String username, String password) {
		this.schema = schema;
		this.application.setJdbcUrl(url);
		this.application.setUsername(username);
		this.application.setPassword(password);
		this.application.setMaximumPoolSize(2);
		this.application.setConnectionTimeout(Patience.COMMAND.toMillis());
	}

	@Override
	protected LockStore createStore() {
		new ResourceDatabasePopulator(new ClassPathResource(this.schema, JdbcLockStore.class))
			.execute(this.application);
		return new JdbcLockStore(this.application,
				JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND));
	}

	@Override
	protected void loseEverything() {
		JdbcClient.create(this.application).sql("DELETE FROM dlock_lock").update();
	}

	@Override
	protected void setLastToken(long token) {
		JdbcClient.create(this.application)
			.sql("UPDATE dlock_lock SET token = ? WHERE lock_key = ?")
			.params(token, key())
			.update();
	}

	@AfterEach
	void closePool() {
		this.application.close();
	}

}
