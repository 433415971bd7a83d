package io.dlock.store.jdbc.dialect;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.dlock.store.LockRecord;
import io.dlock.store.LockStore.AcquireCommand;
import io.dlock.store.MailboxAddress;
import io.dlock.store.WaitingQueue;

/**
 * Writes commands as parameters of statements.
 */
final class LockSqlParameters {

	/** The length of the columns that people read: holder and reason. */
	private static final int TEXT_LENGTH = 255;

	/** The parameter for a missing mailbox or owner. */
	static final String NONE = "-";

	private LockSqlParameters() {
	}

	/**
	 * Bind the first five parameters of an acquire: key, owner, lease, holder, reason.
	 * @param asciiOnly whether the database does not store every character
	 */
	static void bind(PreparedStatement statement, String key, AcquireCommand command, boolean asciiOnly)
			throws SQLException {
		statement.setString(1, key);
		statement.setString(2, command.owner());
		statement.setLong(3, micros(command.lease()));
		statement.setString(4, text(command.holder(), asciiOnly));
		statement.setString(5, text(command.reason(), asciiOnly));
	}

	/**
	 * A text for people must not make an acquire fail: it is reduced to the characters
	 * that the database stores and to the length of the column.
	 */
	static String text(String text, boolean asciiOnly) {
		if (text.length() <= TEXT_LENGTH && isAscii(text)) {
			return text;
		}
		StringBuilder written = new StringBuilder();
		for (int codePoint : text.codePoints().toArray()) {
			String next = written(codePoint, asciiOnly);
			if (written.length() + next.length() > TEXT_LENGTH) {
				break;
			}
			written.append(next);
		}
		return written.toString();
	}

	private static boolean isAscii(String text) {
		for (int i = 0; i < text.length(); i++) {
			if (text.charAt(i) == 0 || text.charAt(i) > 127) {
				return false;
			}
		}
		return true;
	}

	private static String written(int codePoint, boolean asciiOnly) {
		if (codePoint == 0 || Character.getType(codePoint) == Character.SURROGATE) {
			return "?";
		}
		return (asciiOnly && codePoint > 127) ? "\\u{%x}".formatted(codePoint) : Character.toString(codePoint);
	}

	/**
	 * The entry of an exclusive request in the column {@code waiting}.
	 * @param mailbox the mailbox, or {@code null}
	 * @return the entry, or a text that is never in the column
	 */
	static String entry(@Nullable MailboxAddress mailbox) {
		return (mailbox != null) ? WaitingQueue.entry(mailbox, false) : NONE;
	}

	/**
	 * The beginning of a queue after which a command takes a lock whose lease is over.
	 * @return the entry of a fair request, or an empty text for any queue
	 */
	static String head(AcquireCommand command) {
		return command.isFair() ? entry(command.mailbox()) : "";
	}

	/**
	 * The owner of a lock that is reserved for the process of a command.
	 */
	static String reservation(AcquireCommand command) {
		MailboxAddress mailbox = command.mailbox();
		return (mailbox != null) ? mailbox.reservationOwner() : NONE;
	}

	static String releasing(AcquireCommand command) {
		String releasing = command.releasing();
		return (releasing != null) ? releasing : NONE;
	}

	static long micros(Duration duration) {
		return LockRecord.micros(duration);
	}

}
