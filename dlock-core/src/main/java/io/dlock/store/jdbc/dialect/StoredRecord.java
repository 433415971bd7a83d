package io.dlock.store.jdbc.dialect;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.dlock.store.LockRecord;
import io.dlock.store.Member;
import io.dlock.store.WaitingQueue;

/**
 * A record as it was read.
 *
 * @param record the record
 * @param exists whether there is a row
 * @param renewals the count of changes
 * @param now the time of the database
 */
record StoredRecord(LockRecord record, boolean exists, long renewals, long now) {

	/** Before the time of the last exclusive request, behind the members. */
	private static final char ASKED = '@';

	/**
	 * Read the answer to {@link LockStatement#RECORD}. An operator who ends the lease of
	 * a row ends those of its members.
	 */
	static StoredRecord of(ResultSet row) throws SQLException {
		long now = row.getLong(1);
		@Nullable String owner = row.getString(2);
		if (owner == null) {
			return new StoredRecord(LockRecord.NONE, false, 0, now);
		}
		long until = row.getLong(3);
		String text = text(row, 9);
		List<Member> members = (until > now) ? members(text) : List.of();
		int asked = text.indexOf(ASKED);
		WaitingQueue waiting = new WaitingQueue(text(row, 8));
		LockRecord record = new LockRecord(owner, until, row.getLong(4), row.getLong(5), text(row, 6), text(row, 7),
				members, waiting, (asked < 0) ? 0 : Long.parseLong(text.substring(asked + 1)));
		return new StoredRecord(record, true, row.getLong(10), now);
	}

	static List<Member> members(String text) {
		int asked = text.indexOf(ASKED);
		return Member.parse((asked < 0) ? text : text.substring(0, asked));
	}

	/**
	 * The text of the members, in which the encoding of their holders and reasons leaves
	 * no {@link #ASKED}.
	 */
	static String members(LockRecord record) {
		String members = Member.format(record.members());
		return (record.asked() == 0) ? members : members + ASKED + record.asked();
	}

	static String text(ResultSet row, int column) throws SQLException {
		@Nullable String text = row.getString(column);
		return (text != null) ? text : "";
	}

	/**
	 * Bind the condition that the record has not changed. The token and the count of
	 * changes are those of one state of the members; an exclusive owner may acquire once
	 * more with the same token.
	 */
	int bind(PreparedStatement statement, int index) throws SQLException {
		statement.setString(index, this.record.owner());
		statement.setLong(index + 1, this.record.until());
		statement.setLong(index + 2, this.record.token());
		statement.setString(index + 3, this.record.waiting().text());
		statement.setLong(index + 4, this.renewals);
		return index + 5;
	}

}
