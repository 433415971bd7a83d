package io.dlock.autoconfigure.jdbc;

import javax.sql.DataSource;

/**
 * Creates the lock table before the locks use a database for the first time. Define a
 * bean of this type to replace the default, which runs the script that
 * {@code dlock.jdbc.schema} names if {@code dlock.jdbc.initialize-schema} asks for it,
 * and adds the column that a table of an earlier version lacks.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface LockTableInitializer {

	/**
	 * Create the table unless it exists.
	 * @param dataSource the database of the table
	 */
	void initialize(DataSource dataSource);

}
