package io.dlock.fencing.jdbc;

import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.support.TransactionTemplate;

import io.dlock.LockSettings;
import io.dlock.engine.LeaseLockRegistry;
import io.dlock.fencing.StaleTokenException;
import io.dlock.store.memory.MemoryLockStore;
import io.dlock.test.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A guard on a database, and the fence of one resource.
 */
abstract class AbstractFencingFixture {

	/** Of the order of real ones, beyond what a double holds exactly. */
	static final long TOKEN = 1_838_344_036_591_874_049L;

	final String resource = "orders/" + UUID.randomUUID();

	HikariDataSource pool;

	FencingGuard guard;

	JdbcClient jdbc;

	TransactionTemplate transaction;

	final LeaseLockRegistry registry = new LeaseLockRegistry(new MemoryLockStore(), LockSettings.defaults());

	final TestDatabase database = createDatabase();

	abstract TestDatabase createDatabase();

	/**
	 * A part of the line of {@code docs/fencing.md} that removes old rows.
	 */
	abstract String cleanUp();

	@BeforeEach
	void createTables() {
		this.pool = this.database.pool();
		new ResourceDatabasePopulator(new ClassPathResource(this.database.script(), FencingGuard.class))
			.execute(this.pool);
		this.guard = new FencingGuard(this.pool);
		this.jdbc = JdbcClient.create(this.pool);
		this.transaction = new TransactionTemplate(new DataSourceTransactionManager(this.pool));
		this.jdbc.sql("CREATE TABLE IF NOT EXISTS fenced_data (id VARCHAR(100) PRIMARY KEY, fence BIGINT NOT NULL)")
			.update();
	}

	@AfterEach
	void close() {
		this.registry.close();
		this.pool.close();
	}

	void check(long token) {
		this.transaction.executeWithoutResult((status) -> this.guard.check(this.resource, token));
	}

	void refused(long token, long newest) {
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> check(token)).satisfies((ex) -> {
			assertThat(ex.resource()).isEqualTo(this.resource);
			assertThat(ex.token()).isEqualTo(token);
			assertThat(ex.newestToken()).isEqualTo(newest);
			assertThat(ex).hasMessageContaining(this.resource)
				.hasMessageContaining(Long.toString(token))
				.hasMessageContaining(Long.toString(newest))
				.hasMessageContaining("Roll back");
		});
	}

}
