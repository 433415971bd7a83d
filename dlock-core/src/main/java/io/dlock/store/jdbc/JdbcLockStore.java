package io.dlock.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.transaction.TransactionExecution;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockStore;
import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.ReleaseResult;
import io.dlock.store.RenewResult;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreException;
import io.dlock.store.StoreInspection;
import io.dlock.store.StoreQuarantinedException;
import io.dlock.store.StoredLock;
import io.dlock.store.jdbc.dialect.LeaseUpdate;
import io.dlock.store.jdbc.dialect.LeaseUpdate.Holding;
import io.dlock.store.jdbc.dialect.LockAcquire;
import io.dlock.store.jdbc.dialect.LockDialect;
import io.dlock.store.jdbc.dialect.LockMembers;
import io.dlock.store.jdbc.dialect.LockQueue;
import io.dlock.store.jdbc.dialect.RowLock;
import io.dlock.store.jdbc.dialect.SqlErrors;

/**
 * Locks in a table of PostgreSQL, MySQL, MariaDB or H2. Every decision is one auto-commit
 * statement by the database's clock, outside any transaction of the caller.
 * <p>
 * If the given {@code DataSource} is a HikariCP pool, the store opens a small pool of its
 * own to the same database: a thread that holds the application's last connection can
 * still take a lock. The script {@code schema-<database>.sql} beside this class creates
 * the table.
 *
 * @since 0.1
 */
public final class JdbcLockStore implements LockStore {

	private static final Log logger = LogFactory.getLog(JdbcLockStore.class);

	private static final int MAX_SWEEPS = 10;

	private final JdbcLockStoreSettings settings;

	private final LockConnections connections;

	private final JdbcBatches batches;

	private final TransactionConnections transactions;

	private final JdbcInspection inspection;

	private final JdbcMailboxes mailboxes;

	/**
	 * Create a store. Nothing is opened before the first use.
	 * @param dataSource the database
	 * @param settings how to use it
	 * @throws io.dlock.store.StoreMisconfiguredException if the data source is a routing
	 * one of Spring, which may lead each thread to another database
	 */
	public JdbcLockStore(DataSource dataSource, JdbcLockStoreSettings settings) {
		this.settings = settings;
		this.connections = new LockConnections(dataSource, settings);
		this.batches = new JdbcBatches(this.connections);
		this.transactions = new TransactionConnections(dataSource);
		this.inspection = new JdbcInspection(this.connections);
		this.mailboxes = new JdbcMailboxes(this.connections);
	}

	LockConnections connections() {
		return this.connections;
	}

	@Override
	public AcquireResult acquire(AcquireCommand command) {
		check(command);
		boolean member = LockStore.isMember(command.owner());
		AcquireResult result = this.connections.execute("acquire",
				(dialect, connection) -> member ? members(dialect, connection).acquire(command)
						: new LockAcquire(dialect, connection, command, this.settings.commandTimeout()).run());
		answered(command, result);
		return result;
	}

	private void check(AcquireCommand command) {
		if (this.settings.quarantine() != null) {
			this.settings.quarantine().check(command);
		}
	}

	private void answered(AcquireCommand command, AcquireResult result) {
		String storageKey = StorageKey.of(command.key());
		if (result instanceof AcquireResult.Granted) {
			this.mailboxes.forget(command.mailbox(), storageKey);
		}
		else if (command.queueing()) {
			this.mailboxes.await(command.mailbox(), storageKey, LockStore.isMember(command.owner()));
		}
	}

	/**
	 * Known after the first call.
	 */
	@Override
	public boolean supportsBatches() {
		return this.connections.supportBatches();
	}

	@Override
	public List<AcquireResult> acquireAll(List<AcquireCommand> commands) {
		if (commands.isEmpty() || !supportsBatches()) {
			return LockStore.super.acquireAll(commands);
		}
		commands.forEach(this::check);
		List<AcquireResult> results = this.batches.acquire(commands);
		for (int i = 0; i < results.size(); i++) {
			answered(commands.get(i), results.get(i));
		}
		return results;
	}

	@Override
	public boolean supportsMembers() {
		return true;
	}

	@Override
	public boolean supportsFairLocks() {
		return true;
	}

	private LockMembers members(LockDialect dialect, Connection connection) {
		return new LockMembers(dialect, connection, this.settings.commandTimeout());
	}

	@Override
	public List<RenewResult> renew(List<RenewCommand> leases) {
		if (leases.isEmpty()) {
			return List.of();
		}
		JdbcRenewal renewal = new JdbcRenewal(leases, this.settings.commandTimeout());
		try {
			this.connections.executeRenewal(renewal);
		}
		catch (StoreException ex) {
			logger.debug("The renewal of " + leases.size() + " locks failed", ex);
		}
		return renewal.results();
	}

	private List<RenewResult> renewOrFail(List<RenewCommand> leases) {
		JdbcRenewal renewal = new JdbcRenewal(leases, this.settings.commandTimeout());
		this.connections.executeRenewal(renewal);
		return renewal.results();
	}

	@Override
	public void leave(String storageKey, MailboxAddress mailbox) {
		this.mailboxes.forget(mailbox, storageKey);
		this.connections.execute("leave the queue",
				(dialect, connection) -> new LockQueue(dialect, connection).leave(storageKey, mailbox)
						|| members(dialect, connection).leave(storageKey, mailbox));
	}

	@Override
	public Mailbox openMailbox(MailboxAddress address, Consumer<String> onLockAvailable) {
		return this.mailboxes.open(address, onLockAvailable);
	}

	/**
	 * The locks that are polled for an address.
	 */
	Set<String> awaited(MailboxAddress address) {
		return this.mailboxes.awaited(address);
	}

	@Override
	public boolean release(String key, String owner) {
		String storageKey = StorageKey.of(key);
		return this.connections.execute("release",
				(dialect, connection) -> LockStore.isMember(owner)
						? members(dialect, connection).release(storageKey, owner)
						: dialect.release(connection, storageKey, owner));
	}

	@Override
	public List<ReleaseResult> releaseAll(List<ReleaseCommand> releases) {
		return (supportsBatches() && JdbcBatches.isExclusive(releases)) ? this.batches.release(releases)
				: releaseEach(releases);
	}

	/**
	 * A locked row costs one command timeout, and a database that does not answer two: it
	 * is not asked for each of 64 keys.
	 */
	private List<ReleaseResult> releaseEach(List<ReleaseCommand> releases) {
		long end = System.nanoTime() + this.settings.commandTimeout().toNanos() * 3 / 2;
		List<ReleaseResult> results = new ArrayList<>(releases.size());
		for (ReleaseCommand release : releases) {
			results.add((System.nanoTime() - end < 0) ? LockStore.super.releaseAll(List.of(release)).get(0)
					: ReleaseResult.UNKNOWN);
		}
		return results;
	}

	@Override
	public boolean keep(String key, String owner, Duration rest) {
		if (LockStore.isMember(owner)) {
			return false;
		}
		LeaseUpdate lease = LeaseUpdate.of(new Holding(StorageKey.of(key), owner), rest);
		return this.connections.execute("keep", (dialect, connection) -> dialect.keep(connection, lease));
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
	 * Whether a data source is the data source of the locks.
	 * @param dataSource a data source
	 * @return whether it is the same, possibly behind proxies of Spring
	 */
	public boolean isOn(DataSource dataSource) {
		return this.transactions.isOn(dataSource);
	}

	/**
	 * Find the connection of a transaction, if the transaction works on the data source
	 * of the locks.
	 * @param transaction a transaction of the calling thread
	 * @return its connection; empty if the transaction works on another resource, through
	 * JTA, or only releases a savepoint
	 */
	public Optional<Connection> connectionOf(TransactionExecution transaction) {
		return this.transactions.find(transaction);
	}

	/**
	 * Lock the row of a held lock in a transaction of the caller, as the last statement
	 * before its commit. Until the transaction has ended the database grants the lock to
	 * no other owner, even if the lease expires or this process ends; and the lease is
	 * not renewed.
	 * <p>
	 * If the owner is a member, the members of the key neither change nor are they
	 * renewed until the transaction has ended.
	 * <p>
	 * On PostgreSQL and H2 the transaction must be READ COMMITTED: any other isolation
	 * level sees the row as it was before the last renewal.
	 * @param connection the connection of the transaction
	 * @param key the key
	 * @param owner the owner
	 * @return whether the owner holds the key by the clock of the database
	 * @throws StoreException if there is no answer
	 */
	public boolean lockRow(Connection connection, String key, String owner) {
		try {
			return new RowLock(this.connections.dialect(), connection, this.settings.commandTimeout())
				.lock(StorageKey.of(key), owner);
		}
		catch (SQLException ex) {
			throw SqlErrors.translate("lock the row of a lock", ex);
		}
	}

	@Override
	public void verify() {
		this.connections.execute("check the lock table", (dialect, connection) -> {
			dialect.verify(connection, this.settings.table());
			return true;
		});
		try {
			new LockTableCheck(this, this::renewOrFail, this.settings).run();
		}
		catch (StoreQuarantinedException ex) {
			logger.debug("The rules of the lock table are not tried, since the database grants no lock for a while",
					ex);
		}
	}

	@Override
	public Optional<Duration> quarantine() {
		return Optional.ofNullable(this.settings.quarantine()).map((quarantine) -> this.connections.quarantine());
	}

	@Override
	public boolean sweep() {
		boolean more = true;
		for (int i = 0; i < MAX_SWEEPS && more; i++) {
			more = this.connections.execute("sweep",
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
		this.mailboxes.close();
		this.connections.close();
	}

}
