package io.dlock.store.jdbc;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import io.dlock.store.jdbc.ConnectionSlots.Slot;
import io.dlock.store.jdbc.dialect.LockDialect;

/**
 * The database of the locks, as known once it has answered.
 *
 * @param dialect the dialect
 * @param dataSource the source of connections
 * @param slots the slots of the pool, or {@code null} if the pool belongs to the
 * application
 * @param description the database, for people
 */
record LockDatabase(LockDialect dialect, DataSource dataSource, @Nullable ConnectionSlots slots, String description) {

	LockDatabase withDataSource(DataSource other) {
		return new LockDatabase(this.dialect, other, this.slots, this.description);
	}

	Slot enter(boolean renewal) {
		return (this.slots != null) ? this.slots.enter(renewal) : Slot.uncounted();
	}

}
