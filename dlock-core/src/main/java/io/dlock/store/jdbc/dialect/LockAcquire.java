package io.dlock.store.jdbc.dialect;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.dlock.store.AcquireResult;
import io.dlock.store.LockRecord;
import io.dlock.store.LockStore;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.StorageKey;
import io.dlock.store.StoreCongestedException;

/**
 * Acquires a key with one statement unless another process is in the way. A step that is
 * left when the time is over and does not decide about the key is left to the next call:
 * each statement has a timeout of its own.
 */
public final class LockAcquire {

	private static final int QUEUE_ATTEMPTS = 3;

	private final LockDialect dialect;

	private final Connection connection;

	private final AcquireCommand command;

	private final String key;

	private final Duration timeout;

	private final long end;

	/**
	 * Prepare a call.
	 * @param dialect the dialect
	 * @param connection an auto-commit connection
	 * @param command what to acquire
	 * @param timeout how long the call may take
	 */
	public LockAcquire(LockDialect dialect, Connection connection, AcquireCommand command, Duration timeout) {
		this.dialect = dialect;
		this.connection = connection;
		this.command = command;
		this.key = StorageKey.of(command.key());
		this.timeout = timeout;
		this.end = System.nanoTime() + timeout.toNanos();
	}

	/**
	 * Acquire the key.
	 * @return the answer
	 * @throws SQLException if there is none
	 */
	public AcquireResult run() throws SQLException {
		String releasing = this.command.releasing();
		if (releasing != null && LockStore.isMember(releasing)) {
			new LockMembers(this.dialect, this.connection, this.timeout).release(this.key, releasing);
			return answer(this.dialect.attempt(this.connection, withoutRelease()));
		}
		AcquireAttempt attempt = this.dialect.attempt(this.connection, this.command);
		if (releasing != null && !(attempt instanceof AcquireAttempt.Granted)) {
			this.dialect.release(this.connection, this.key, releasing);
			if (isOver()) {
				return new AcquireResult.Refused(Duration.ZERO, null);
			}
			attempt = this.dialect.attempt(this.connection, withoutRelease());
		}
		return answer(attempt);
	}

	/**
	 * Take the keys that are free, with one statement, and join the queues of others.
	 * @param dialect the dialect
	 * @param connection an auto-commit connection
	 * @param commands what to acquire
	 * @param timeout how long the call may take
	 * @return one answer for each command
	 * @throws SQLException if there is none
	 */
	public static List<AcquireResult> runAll(LockDialect dialect, Connection connection, List<AcquireCommand> commands,
			Duration timeout) throws SQLException {
		Map<String, Long> tokens = dialect.attempt(connection, commands);
		List<AcquireResult> results = new ArrayList<>(commands.size());
		boolean refused = false;
		for (AcquireCommand command : commands) {
			LockAcquire acquire = new LockAcquire(dialect, connection, command, timeout);
			Long token = tokens.get(acquire.key);
			if (token != null) {
				results.add(new AcquireResult.Granted(token));
			}
			else if (refused && !command.queueing()) {
				results.add(new AcquireResult.Refused(Duration.ZERO, null));
			}
			else {
				refused = true;
				results.add(acquire.refusal());
			}
		}
		return results;
	}

	/**
	 * A failure concerns this key only: others have been granted by now.
	 */
	private AcquireResult refusal() {
		try {
			return answer(this.dialect.holder(this.connection, this.key, entry()));
		}
		catch (SQLException ex) {
			return new AcquireResult.Failed(SqlErrors.translate("acquire", ex));
		}
	}

	private AcquireResult answer(AcquireAttempt attempt) throws SQLException {
		if (attempt instanceof AcquireAttempt.Granted granted) {
			return new AcquireResult.Granted(granted.token());
		}
		if (!(attempt instanceof AcquireAttempt.Held held)) {
			return new AcquireResult.Refused(Duration.ZERO, null);
		}
		if (this.command.isFair() && !held.lasts() && !isOver()) {
			this.dialect.passExpired(this.connection, this.key);
			if (!(this.dialect.holder(this.connection, this.key, entry()) instanceof AcquireAttempt.Held passed)
					|| !passed.lasts()) {
				return new AcquireResult.Refused(Duration.ZERO, null);
			}
			held = passed;
		}
		MailboxAddress mailbox = this.command.mailbox();
		boolean queueing = this.command.queueing() && !isOver();
		if (held.owner().equals(LockRecord.MEMBERS)) {
			return refusedByMembers(queueing);
		}
		return (queueing && mailbox != null) ? queue(mailbox, held) : held.refusal(this.command.queueing());
	}

	/**
	 * A place in the queue that other sessions prevent is left to the next call.
	 */
	private AcquireResult refusedByMembers(boolean queueing) throws SQLException {
		try {
			return new LockMembers(this.dialect, this.connection, Duration.ofNanos(this.end - System.nanoTime()))
				.refuse(this.command, queueing);
		}
		catch (StoreCongestedException ex) {
			return new AcquireResult.Refused(Duration.ZERO, null);
		}
	}

	private String entry() {
		return LockSqlParameters.entry(this.command.mailbox());
	}

	private boolean isOver() {
		return System.nanoTime() - this.end > 0;
	}

	private AcquireCommand withoutRelease() {
		return new AcquireCommand(this.command.key(), this.command.owner(), this.command.lease(), this.command.holder(),
				this.command.reason(), this.command.mailbox(), this.command.queueing(), null);
	}

	/**
	 * Queue up behind a holder, or behind its successor. Only a lock that is free by now
	 * is worth another attempt at once.
	 */
	private AcquireResult queue(MailboxAddress mailbox, AcquireAttempt.Held first) throws SQLException {
		LockQueue queue = new LockQueue(this.dialect, this.connection);
		AcquireAttempt.Held held = first;
		for (int i = 0; i < QUEUE_ATTEMPTS && held.hasRoom(); i++) {
			if (queue.join(this.key, mailbox)) {
				return held.refusal(false);
			}
			if (!(this.dialect.holder(this.connection, this.key, entry()) instanceof AcquireAttempt.Held now)
					|| !now.lasts()) {
				return new AcquireResult.Refused(Duration.ZERO, null);
			}
			held = now;
		}
		return held.refusal(true);
	}

}
