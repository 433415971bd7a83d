package io.dlock.store.jdbc;

import java.sql.SQLException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.jdbc.dialect.SqlErrors;

/**
 * The open mailboxes. The store listens to a database that notifies its clients, and
 * polls any other database for the locks that processes wait for.
 */
final class JdbcMailboxes {

	private final LockConnections connections;

	private final Map<MailboxAddress, Mailbox> mailboxes = new ConcurrentHashMap<>();

	private volatile boolean closed;

	JdbcMailboxes(LockConnections connections) {
		this.connections = connections;
	}

	Mailbox open(MailboxAddress address, Consumer<String> onLockAvailable) {
		Mailbox listening = listen(address, onLockAvailable);
		Mailbox mailbox = (listening != null) ? listening
				: PollingMailbox.open(this.connections, address, onLockAvailable);
		this.mailboxes.put(address, mailbox);
		if (this.closed) {
			close(address, mailbox);
		}
		return () -> close(address, mailbox);
	}

	/**
	 * Listen on a connection beside the pool.
	 * @return the mailbox, or {@code null} if the database sends no notifications, they
	 * do not arrive, or the connections belong to the application
	 */
	private @Nullable Mailbox listen(MailboxAddress address, Consumer<String> onLockAvailable) {
		String channel = this.connections.areOwn() ? this.connections.dialect().channel(address) : null;
		if (channel == null) {
			return null;
		}
		try {
			return PostgreSqlMailbox.open(this.connections.mailboxPool(PostgreSqlMailbox::promptly),
					this.connections.commandTimeout(), channel, this::send, onLockAvailable);
		}
		catch (SQLException ex) {
			throw SqlErrors.notConnected(ex);
		}
	}

	private void send(String channel, String payload) {
		this.connections.execute("send a message",
				(dialect, connection) -> dialect.notify(connection, channel, payload));
	}

	/**
	 * Poll for a lock, unless the address is notified.
	 * @param address the address of a process that waits
	 * @param storageKey the lock
	 * @param member whether the process waits as a member
	 */
	void await(@Nullable MailboxAddress address, String storageKey, boolean member) {
		PollingMailbox polling = polling(address);
		if (polling != null && address != null) {
			polling.await(address.message(storageKey), member);
		}
	}

	void forget(@Nullable MailboxAddress address, String storageKey) {
		PollingMailbox polling = polling(address);
		if (polling != null && address != null) {
			polling.forget(address.message(storageKey));
		}
	}

	/**
	 * The locks that are polled for an address.
	 * @return their {@linkplain MailboxAddress#message messages}
	 */
	Set<String> awaited(MailboxAddress address) {
		PollingMailbox polling = polling(address);
		return (polling != null) ? polling.awaited() : Set.of();
	}

	private @Nullable PollingMailbox polling(@Nullable MailboxAddress address) {
		Mailbox mailbox = (address != null) ? this.mailboxes.get(address.mailbox()) : null;
		return (mailbox instanceof PollingMailbox polling) ? polling : null;
	}

	private void close(MailboxAddress address, Mailbox mailbox) {
		this.mailboxes.remove(address, mailbox);
		mailbox.close();
	}

	void close() {
		this.closed = true;
		this.mailboxes.forEach(this::close);
	}

}
