package io.dlock.store.jdbc.dialect;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

import io.dlock.store.StoredLock;

/**
 * Reads the columns of a lock that people see.
 */
final class StoredLockRow {

	private StoredLockRow() {
	}

	static StoredLock read(ResultSet row) throws SQLException {
		return new StoredLock(row.getString("lock_key"), row.getString("holder"), row.getString("reason"),
				instant(row.getLong("since_micros")), instant(row.getLong("until_micros")), row.getLong("token"),
				Duration.of(row.getLong("age_micros"), ChronoUnit.MICROS), row.getString("owner").startsWith("~"));
	}

	private static Instant instant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

}
