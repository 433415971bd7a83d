package io.dlock.store.jdbc;

import java.time.Duration;
import java.util.Map;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.Quarantine;
import io.dlock.store.StoreException.Effect;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * A store with a quarantine on a real server.
 */
@Timeout(240)
abstract class AbstractPostgreSqlQuarantineTests {

	static final Duration LEASE = Duration.ofSeconds(4);

	static final Duration LONG = Duration.ofMinutes(10);

	static final String NOTE = " WHERE lock_key = '!quarantine'";

	final HikariDataSource pool = Pools.create(PostgresServer.shared());

	final JdbcClient admin = JdbcClient.create(this.pool);

	JdbcLockStore store;

	@AfterEach
	void stop() {
		if (this.store != null) {
			this.store.close();
		}
		this.pool.close();
	}

	void start(Duration longestLease) {
		Pools.createLockTable(this.pool, "postgresql");
		update("DELETE FROM dlock_lock");
		this.store = connected(this.pool, longestLease);
	}

	void update(String sql) {
		this.admin.sql(sql).update();
	}

	Map<String, Object> note() {
		return this.admin.sql("SELECT * FROM dlock_lock" + NOTE).query().singleRow();
	}

	static JdbcLockStoreSettings settings(Duration longestLease) {
		return JdbcLockStoreSettings.defaults()
			.withCommandTimeout(Patience.COMMAND)
			.withQuarantine(new Quarantine(longestLease, Duration.ZERO));
	}

	static JdbcLockStore store(DataSource dataSource, Duration longestLease) {
		return new JdbcLockStore(dataSource, settings(longestLease));
	}

	static JdbcLockStore careless(DataSource dataSource) {
		return new JdbcLockStore(dataSource, JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND));
	}

	static JdbcLockStore connected(DataSource dataSource, Duration longestLease) {
		return Patience.connected(store(dataSource, longestLease));
	}

	static AcquireCommand command(String key, String owner) {
		return new AcquireCommand(key, owner, LEASE, "holder", "");
	}

	static AcquireResult acquire(JdbcLockStore store, String key, String owner) {
		return store.acquire(command(key, owner));
	}

	static void granted(JdbcLockStore store, AcquireCommand command) {
		assertThat(store.acquire(command)).isInstanceOf(AcquireResult.Granted.class);
	}

	static void granted(JdbcLockStore store, String key, String owner) {
		granted(store, command(key, owner));
	}

	static Duration quarantined(JdbcLockStore store, AcquireCommand command) {
		StoreQuarantinedException refusal = catchThrowableOfType(StoreQuarantinedException.class,
				() -> store.acquire(command));
		assertThat(refusal).as("the answer to " + command.owner()).isNotNull();
		assertThat(refusal.effect()).isEqualTo(Effect.NONE);
		assertThat(refusal.isPermanent()).isFalse();
		return refusal.remaining();
	}

	static Duration quarantined(JdbcLockStore store, String key, String owner) {
		return quarantined(store, command(key, owner));
	}

	static void grantedAtLast(JdbcLockStore store, String key, String owner) {
		Awaitility.await()
			.ignoreException(StoreQuarantinedException.class)
			.until(() -> acquire(store, key, owner) instanceof AcquireResult.Granted);
	}

}
