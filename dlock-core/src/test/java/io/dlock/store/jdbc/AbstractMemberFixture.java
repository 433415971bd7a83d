package io.dlock.store.jdbc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.dlock.store.AcquireResult;
import io.dlock.store.AcquireResult.Granted;
import io.dlock.store.AcquireResult.Refused;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.LockStore.RenewCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.test.Patience;
import io.dlock.test.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A store on a table of its own, and other sessions that meet it.
 */
abstract class AbstractMemberFixture {

	static final Duration LEASE = Duration.ofSeconds(60);

	final String table = "dlock_" + UUID.randomUUID().toString().replace("-", "");

	final String key = "members";

	final MailboxAddress mailbox = MailboxAddress.create(Duration.ofSeconds(9));

	final HikariDataSource pool;

	private final List<JdbcLockStore> stores = new ArrayList<>();

	private final String script;

	JdbcLockStore store;

	AbstractMemberFixture(TestDatabase database) {
		this.script = database.script();
		this.pool = database.pool();
		this.pool.setMaximumPoolSize(4);
		this.pool.setConnectionTimeout(Patience.COMMAND.toMillis());
	}

	@BeforeEach
	void createTable() throws IOException {
		String table = new ClassPathResource(this.script, JdbcLockStore.class)
			.getContentAsString(StandardCharsets.UTF_8)
			.replace("dlock_lock", this.table);
		new ResourceDatabasePopulator(new ByteArrayResource(table.getBytes(StandardCharsets.UTF_8))).execute(this.pool);
		this.store = store(this.pool, Patience.COMMAND);
	}

	final JdbcLockStore store(DataSource dataSource, Duration timeout) {
		return store(dataSource, timeout, null);
	}

	final JdbcLockStore store(DataSource dataSource, Duration timeout, @Nullable WakeUp wakeUp) {
		JdbcLockStore created = new JdbcLockStore(dataSource, new JdbcLockStoreSettings(this.table, timeout, 2,
				Duration.ofDays(1), wakeUp, SynchronousCommit.DEFAULT, null));
		this.stores.add(created);
		return created;
	}

	@AfterEach
	void dropTable() {
		this.stores.forEach(JdbcLockStore::close);
		update("DROP TABLE " + this.table);
		this.pool.close();
	}

	final void update(String sql) {
		JdbcClient.create(this.pool).sql(sql).update();
	}

	static AcquireCommand command(String key, String owner, int limit, @Nullable MailboxAddress mailbox) {
		return new AcquireCommand(key, owner, LEASE, "holder " + owner, "", mailbox, mailbox != null, null, limit);
	}

	final AcquireResult acquire(JdbcLockStore store, String owner, int limit) {
		return store.acquire(command(this.key, owner, limit, null));
	}

	final AcquireResult acquire(String owner) {
		return acquire(this.store, owner, AcquireCommand.UNLIMITED);
	}

	final RenewResult renew(JdbcLockStore store, String owner) {
		return store.renew(List.of(new RenewCommand(this.key, owner, LEASE))).get(0);
	}

	/**
	 * A store that meets another session between each read and write of a record.
	 */
	final JdbcLockStore interrupted(Runnable change, Duration timeout) {
		return store(new RacingDataSource(this.pool, change), timeout);
	}

	final JdbcLockStore interruptedOnce(Runnable change) {
		return interrupted(once(change), Patience.COMMAND);
	}

	/**
	 * A store that meets another session before its first statement of a pattern.
	 */
	final JdbcLockStore interruptedOnce(String statement, Runnable change) {
		return store(new RacingDataSource(this.pool, once(change), (sql) -> sql.matches(statement)), Patience.COMMAND);
	}

	private static Runnable once(Runnable change) {
		boolean[] done = new boolean[1];
		return () -> {
			if (!done[0]) {
				done[0] = true;
				change.run();
			}
		};
	}

	static void granted(AcquireResult result) {
		assertThat(result).isInstanceOf(Granted.class);
	}

	static void refused(AcquireResult result) {
		assertThat(result).isInstanceOf(Refused.class);
	}

	final void acquireAndExpire(String owner) {
		Duration soon = Duration.ofMillis(50);
		granted(this.store.acquire(new AcquireCommand(this.key, owner, soon, "", "", null, false, null, 5)));
		Awaitility.await().until(() -> this.store.find(this.key).isEmpty());
	}

	final void queue(String... entries) {
		update("UPDATE " + this.table + " SET waiting = '" + String.join("", entries) + "'");
	}

}
