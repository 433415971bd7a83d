package io.dlock.autoconfigure.jdbc;

import javax.sql.DataSource;

/**
 * Creates the fence table before the first {@link io.dlock.fencing.jdbc.FencingGuard} is
 * handed out. Define a bean of this type to replace the default, which runs the script of
 * dlock if {@code dlock.jdbc.initialize-schema} asks for it.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface FenceTableInitializer {

	/**
	 * Create the table unless it exists.
	 * @param dataSource the database of the table
	 */
	void initialize(DataSource dataSource);

}
