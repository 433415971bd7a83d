package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

import io.dlock.store.AbstractLockStoreTests;
import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.test.Patience;
import io.dlock.test.Pools;
import io.dlock.test.TestDatabase;

/**
 * A store of a database.
 */
abstract class AbstractJdbcStoreTests extends AbstractLockStoreTests {

	static final Duration LEASE = Duration.ofSeconds(60);

	/**
	 * The timeout of stores in tests in which it runs out.
	 */
	static final Duration SHORT_TIMEOUT = Duration.ofSeconds(1);

	private final List<HikariDataSource> pools = new ArrayList<>();

	private HikariDataSource application;

	final TestDatabase database = createDatabase();

	abstract TestDatabase createDatabase();

	final JdbcLockStoreSettings settings() {
		return JdbcLockStoreSettings.defaults().withCommandTimeout(Patience.COMMAND);
	}

	/**
	 * A store whose timeout runs out in a test, but not for its first connection.
	 */
	final JdbcLockStore impatientStore(DataSource dataSource) {
		return impatientStore(dataSource, SHORT_TIMEOUT);
	}

	final JdbcLockStore impatientStore(DataSource dataSource, Duration timeout) {
		return Patience
			.connected(new JdbcLockStore(dataSource, settings().withCommandTimeout(timeout).withPoolSize(2)));
	}

	@Override
	protected LockStore createStore() {
		this.application = pool(this.database.url());
		Pools.createLockTable(this.application, this.database.platform());
		return new JdbcLockStore(this.application, settings());
	}

	final HikariDataSource pool(String url) {
		HikariDataSource pool = Pools.create(url, this.database.username(), this.database.password());
		pool.setMaximumPoolSize(4);
		pool.setConnectionTimeout(Patience.COMMAND.toMillis());
		this.pools.add(pool);
		return pool;
	}

	final HikariDataSource application() {
		return this.application;
	}

	@AfterEach
	void closePools() {
		this.pools.forEach(HikariDataSource::close);
	}

	final void execute(String sql) throws SQLException {
		try (Connection connection = this.application.getConnection();
				Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	final AcquireResult ask(JdbcLockStore store, String owner, @Nullable MailboxAddress mailbox) {
		return store.acquire(new AcquireCommand(key(), owner, LEASE, "holder", "", mailbox, mailbox != null, null));
	}

	static Set<Thread> threads(String name) {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals(name))
			.collect(Collectors.toCollection(HashSet::new));
	}

}
