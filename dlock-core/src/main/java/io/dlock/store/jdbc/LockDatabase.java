package io.dlock.store.jdbc;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import io.dlock.store.jdbc.LockPlaces.Place;
import io.dlock.store.jdbc.dialect.LockDialect;

/**
 * The database of the locks, as known once it has answered.
 *
 * @param dialect the dialect
 * @param dataSource the source of connections
 * @param places the places among the connections, or {@code null} if the pool belongs to
 * the application
 * @param description the database, for people
 */
record LockDatabase(LockDialect dialect, DataSource dataSource, @Nullable LockPlaces places, String description) {

	LockDatabase withDataSource(DataSource other) {
		return new LockDatabase(this.dialect, other, this.places, this.description);
	}

	Place enter(boolean renewal) {
		return (this.places != null) ? this.places.enter(renewal) : Place.uncounted();
	}

}
