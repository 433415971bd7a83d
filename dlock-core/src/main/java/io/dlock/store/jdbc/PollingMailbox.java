package io.dlock.store.jdbc;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.dlock.store.Mailbox;
import io.dlock.store.MailboxAddress;
import io.dlock.store.jdbc.dialect.LockQueue;

/**
 * Polls a database without notifications: one thread queries all locks that the process
 * waits for with one statement. It pauses while the process waits for none.
 */
final class PollingMailbox implements Mailbox, Runnable {

	private static final Log logger = LogFactory.getLog(PollingMailbox.class);

	/** Well below the duration of a reservation for a process that listens. */
	private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(15);

	private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final int KEYS_AT_ONCE = 500;

	private final LockConnections connections;

	private final MailboxAddress address;

	private final Consumer<String> onLockAvailable;

	/** The messages that are waited for. */
	private final Set<String> awaited = ConcurrentHashMap.newKeySet();

	private final Thread thread = new Thread(null, this, "dlock-mailbox", 0, false);

	/** Whether the process has waited as a member: then the table has their column. */
	private volatile boolean member;

	private volatile boolean closed;

	private PollingMailbox(LockConnections connections, MailboxAddress address, Consumer<String> onLockAvailable) {
		this.connections = connections;
		this.address = address;
		this.onLockAvailable = onLockAvailable;
		this.thread.setDaemon(true);
	}

	static PollingMailbox open(LockConnections connections, MailboxAddress address, Consumer<String> onLockAvailable) {
		PollingMailbox mailbox = new PollingMailbox(connections, address, onLockAvailable);
		mailbox.thread.start();
		return mailbox;
	}

	/**
	 * Poll for a lock until it is available.
	 * @param message the {@linkplain MailboxAddress#message message} for the lock
	 * @param waitsAsMember whether the process waits as a member
	 */
	void await(String message, boolean waitsAsMember) {
		this.member |= waitsAsMember;
		if (this.awaited.add(message)) {
			LockSupport.unpark(this.thread);
		}
	}

	void forget(String message) {
		this.awaited.remove(message);
	}

	/**
	 * The locks that are polled.
	 * @return the messages
	 */
	Set<String> awaited() {
		return Set.copyOf(this.awaited);
	}

	@Override
	public void run() {
		long pause = INTERVAL_NANOS;
		while (!this.closed) {
			if (this.awaited.isEmpty()) {
				LockSupport.park(this);
				continue;
			}
			pause(pause - ThreadLocalRandom.current().nextLong(pause / 2));
			try {
				look(this.awaited.stream().map(MailboxAddress::storageKey).distinct().toList());
				pause = INTERVAL_NANOS;
			}
			catch (Throwable ex) {
				pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
				logger.debug("Could not look at the locks that are waited for", ex);
			}
		}
	}

	/**
	 * Another lock does not end the pause: the database may have failed.
	 */
	private void pause(long nanos) {
		long start = System.nanoTime();
		long left = nanos;
		while (left > 0 && !this.closed) {
			LockSupport.parkNanos(this, left);
			if (Thread.interrupted()) {
				logger.trace("Interrupted");
			}
			left = nanos - (System.nanoTime() - start);
		}
	}

	private void look(List<String> keys) {
		for (int from = 0; from < keys.size() && !this.closed; from += KEYS_AT_ONCE) {
			List<String> some = keys.subList(from, Math.min(keys.size(), from + KEYS_AT_ONCE));
			List<String> available = this.connections.execute("look for available locks", (dialect,
					connection) -> new LockQueue(dialect, connection).available(some, this.address, this.member));
			for (String message : available) {
				if (this.awaited.remove(message)) {
					this.onLockAvailable.accept(message);
				}
			}
		}
	}

	@Override
	public void close() {
		this.closed = true;
		LockSupport.unpark(this.thread);
	}

}
