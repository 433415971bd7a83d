package io.dlock.store.jdbc;

import java.sql.SQLException;

import io.dlock.store.StoreException;

/**
 * The database answered, but rolled the statement back: a timeout or conflict of one row,
 * or a server that is read-only. The connection works.
 */
final class RolledBackException extends StoreException {

	RolledBackException(String message, SQLException cause) {
		super(Effect.NONE, false, message, cause);
	}

}
