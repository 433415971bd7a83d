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
final class LockSqlParameters {

	/** The columns for people have room for this many characters. */
	private static final int TEXT_LENGTH = 255;

	/** Stands for a mailbox or an owner where there is none. */
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
	 * A text for people must not keep a lock from being taken: it is written with the
	 * characters that the database stores, as far as the column has room.
	 */
	static String text(String text, boolean asciiOnly) {
		if (text.length() <= TEXT_LENGTH && text.chars().allMatch((c) -> c > 0 && c < 128)) {
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

	private static String written(int codePoint, boolean asciiOnly) {
		if (codePoint == 0 || Character.getType(codePoint) == Character.SURROGATE) {
			return "?";
		}
		return (asciiOnly && codePoint > 127) ? "\\u{%x}".formatted(codePoint) : Character.toString(codePoint);
	}

	/**
	 * What a mailbox is in the column {@code waiting}.
	 * @param mailbox the mailbox, or {@code null}
	 * @return the entry, or something that is never in the column
	 */
	static String entry(@Nullable MailboxAddress mailbox) {
		return (mailbox != null) ? mailbox.value() + ' ' : NONE;
	}

	/**
	 * The owner of a lock that is kept for the process of a command.
	 */
	static String reservation(AcquireCommand command) {
		MailboxAddress mailbox = command.mailbox();
		return (mailbox != null) ? mailbox.reservation() : NONE;
	}

	static String releasing(AcquireCommand command) {
		String releasing = command.releasing();
		return (releasing != null) ? releasing : NONE;
	}

	static long micros(Duration duration) {
		return (duration.toNanos() + 999) / 1000;
	}

}
