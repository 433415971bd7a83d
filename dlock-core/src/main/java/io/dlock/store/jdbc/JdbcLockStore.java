package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreException;
import io.dlock.store.StoreMisconfiguredException;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoredLock;
import io.dlock.store.jdbc.JdbcRenewal.Due;
import io.dlock.store.jdbc.JdbcRenewal.Holding;

/**
 * Locks in a table of PostgreSQL, MySQL, MariaDB or H2. Every decision is one auto-commit
 * statement by the database's clock, outside any transaction of the caller.
 * <p>
 * If the given {@code DataSource} is a HikariCP pool, the store opens a small pool of its
 * own to the same database: a thread that holds the application's last connection can
 * still take a lock. The table is made by the script {@code schema-<database>.sql} beside
 * this class.
 *
 * @since 0.1
 */
public final class JdbcLockStore implements LockStore {

	private static final Log logger = LogFactory.getLog(JdbcLockStore.class);

	private static final int MAX_SWEEPS = 10;

	private final JdbcLockStoreSettings settings;

	private final LockConnections connections;

	private final TransactionConnections transactions;

	private final JdbcInspection inspection;

	private final Map<MailboxAddress, Mailbox> mailboxes = new ConcurrentHashMap<>();

	private volatile boolean closed;

	/**
	 * Create a store. Nothing is opened before the first use.
	 * @param dataSource the database
	 * @param settings how to use it
	 */
	public JdbcLockStore(DataSource dataSource, JdbcLockStoreSettings settings) {
		this.settings = settings;
		this.connections = new LockConnections(dataSource, settings);
		this.transactions = new TransactionConnections(dataSource);
		this.inspection = new JdbcInspection(this.connections);
	}

	LockConnections connections() {
		return this.connections;
	}

	@Override
	public AcquireResult acquire(AcquireCommand command) {
		AcquireResult result = this.connections.execute(false, "acquire",
				(dialect, connection) -> dialect.acquire(connection, command, this.settings.commandTimeout()));
		PollingMailbox polling = polling(command.mailbox());
		if (polling != null && result instanceof AcquireResult.Granted) {
			polling.forget(StorageKey.of(command.key()));
		}
		else if (polling != null && command.queueing()) {
			polling.await(StorageKey.of(command.key()));
		}
		return result;
	}

	private @Nullable PollingMailbox polling(@Nullable MailboxAddress address) {
		Mailbox mailbox = (address != null) ? this.mailboxes.get(address) : null;
		return (mailbox instanceof PollingMailbox polling) ? polling : null;
	}

	@Override
	public List<RenewResult> renew(List<RenewCommand> leases) {
		if (leases.isEmpty()) {
			return List.of();
		}
		JdbcRenewal renewal = new JdbcRenewal(leases, this.settings.commandTimeout());
		try {
			this.connections.execute(true, "renew", renewal);
		}
		catch (StoreException ex) {
			logger.debug("The renewal of " + leases.size() + " locks failed", ex);
		}
		return renewal.results();
	}

	@Override
	public void leave(String storageKey, MailboxAddress mailbox) {
		PollingMailbox polling = polling(mailbox);
		if (polling != null) {
			polling.forget(storageKey);
		}
		this.connections.execute(false, "leave", (dialect, connection) -> {
			dialect.leave(connection, storageKey, mailbox);
			return true;
		});
	}

	@Override
	public Mailbox openMailbox(MailboxAddress address, Consumer<String> onTurn) {
		Mailbox listening = this.connections.openMailbox(address, onTurn);
		Mailbox mailbox = (listening != null) ? listening : PollingMailbox.open(this.connections, address, onTurn);
		Mailbox before = this.mailboxes.put(address, mailbox);
		if (before != null) {
			before.close();
		}
		if (this.closed) {
			closeMailbox(address, mailbox);
		}
		return () -> closeMailbox(address, mailbox);
	}

	/**
	 * The locks that are looked at for an address.
	 */
	Set<String> awaited(MailboxAddress address) {
		PollingMailbox polling = polling(address);
		return (polling != null) ? polling.awaited() : Set.of();
	}

	private void closeMailbox(MailboxAddress address, Mailbox mailbox) {
		this.mailboxes.remove(address, mailbox);
		mailbox.close();
	}

	@Override
	public boolean release(String key, String owner) {
		return this.connections.execute(false, "release",
				(dialect, connection) -> dialect.release(connection, StorageKey.of(key), owner));
	}

	@Override
	public boolean keep(String key, String owner, Duration rest) {
		Due lease = new Due(new Holding(StorageKey.of(key), owner), Parameters.micros(rest));
		return this.connections.execute(false, "keep", (dialect, connection) -> dialect.keep(connection, lease));
	}

	@Override
	public Optional<StoredLock> find(String key) {
		return this.inspection.findStored(StorageKey.of(key));
	}

	@Override
	public StoreInspection inspection() {
		return this.inspection;
	}

	/**
	 * Whether a data source is that of the locks.
	 * @param dataSource a data source
	 * @return whether it is the same, be it through proxies of Spring's
	 */
	public boolean isOn(DataSource dataSource) {
		return this.transactions.isOn(dataSource);
	}

	/**
	 * Find the connection of a transaction, if that works on the data source of the
	 * locks.
	 * @param transaction a transaction of the calling thread
	 * @return its connection; empty if it works on something else, through JTA, or is
	 * about to release a savepoint only
	 */
	public Optional<Connection> connectionOf(TransactionExecution transaction) {
		return this.transactions.find(transaction);
	}

	/**
	 * Lock the row of a held lock in a transaction of the caller, as the last thing
	 * before its commit. Until the transaction has ended the database gives the lock to
	 * nobody else, whatever becomes of its lease and of this process; and it is not
	 * renewed.
	 * <p>
	 * On PostgreSQL and H2 the transaction must be READ COMMITTED: others see the row as
	 * it was before the last renewal.
	 * @param connection the connection of the transaction
	 * @param key the key
	 * @param owner the owner
	 * @return whether the owner holds the key by the clock of the database
	 * @throws StoreException if there is no answer
	 */
	public boolean hold(Connection connection, String key, String owner) {
		try {
			return this.connections.dialect()
				.hold(connection, StorageKey.of(key), owner, this.settings.commandTimeout());
		}
		catch (SQLException ex) {
			throw SqlErrors.translate("lock the row of a lock", ex);
		}
	}

	@Override
	public void verify() {
		this.connections.execute(false, "check the lock table", (dialect, connection) -> {
			LockTable table = new LockTable(this.settings.table());
			table.verifyColumns(connection);
			dialect.verify(connection, table);
			return true;
		});
		boolean losesFractions = losesFractions();
		if (losesFractions) {
			losesFractions = losesFractions();
		}
		if (losesFractions) {
			throw new StoreMisconfiguredException(
					"The lock table '%s' does not keep microseconds, so that leases would end early."
						.formatted(this.settings.table()),
					"Create it with the script schema-<database>.sql of dlock-core (a precision of 6).", null);
		}
	}

	/**
	 * Whether the times of a lock come back without fractions. By chance that happens
	 * once in a million.
	 */
	private boolean losesFractions() {
		String owner = UUID.randomUUID().toString();
		String key = "dlock/start-up-check/" + owner;
		acquire(new AcquireCommand(key, owner, Duration.ofSeconds(10), "start-up check", ""));
		Optional<StoredLock> lock = find(key);
		release(key, owner);
		return lock.isEmpty() || (isWhole(lock.get().since()) && isWhole(lock.get().until()));
	}

	private static boolean isWhole(Instant time) {
		return time.equals(time.truncatedTo(ChronoUnit.MILLIS));
	}

	@Override
	public boolean sweep() {
		boolean more = true;
		for (int i = 0; i < MAX_SWEEPS && more; i++) {
			more = this.connections.execute(false, "sweep",
					(dialect, connection) -> dialect.sweep(connection, this.settings.retention()));
		}
		return more;
	}

	@Override
	public String describe() {
		return "jdbc (" + this.connections.description() + ")";
	}

	@Override
	public void close() {
		this.closed = true;
		this.mailboxes.forEach(this::closeMailbox);
		this.connections.close();
	}

}
