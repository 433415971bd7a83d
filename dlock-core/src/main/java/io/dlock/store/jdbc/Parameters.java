package io.dlock.store.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;

/**
 * What commands are as parameters of statements.
 */
final class Parameters {

	/** Stands for a mailbox or an owner where there is none. */
	static final String NOBODY = "-";

	private Parameters() {
	}

	/**
	 * Bind the first five parameters of an acquire: key, owner, lease, holder, reason.
	 */
	static void bind(PreparedStatement statement, String key, AcquireCommand command) throws SQLException {
		statement.setString(1, key);
		statement.setString(2, command.owner());
		statement.setLong(3, micros(command.lease()));
		statement.setString(4, command.holder());
		statement.setString(5, command.reason());
	}

	/**
	 * What a mailbox is in the column {@code waiting}.
	 * @param mailbox the mailbox, or {@code null}
	 * @return the entry, or something that is never in the column
	 */
	static String entry(@Nullable MailboxAddress mailbox) {
		return (mailbox != null) ? mailbox.value() + ' ' : NOBODY;
	}

	/**
	 * The owner of a lock that is kept for the process of a command.
	 */
	static String reservation(AcquireCommand command) {
		MailboxAddress mailbox = command.mailbox();
		return (mailbox != null) ? mailbox.reservation() : NOBODY;
	}

	static String releasing(AcquireCommand command) {
		String releasing = command.releasing();
		return (releasing != null) ? releasing : NOBODY;
	}

	static long micros(Duration duration) {
		return (duration.toNanos() + 999) / 1000;
	}

}
