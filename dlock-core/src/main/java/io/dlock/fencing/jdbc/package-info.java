/**
 * Fencing of data in PostgreSQL, MySQL, MariaDB and H2. Start reading at
 * {@link FencingGuard}; {@code FenceDialect} has the SQL. Knows {@code io.dlock.fencing},
 * {@code io.dlock} and how keys are written, but neither the stores nor the engine.
 */
@NullMarked
package io.dlock.fencing.jdbc;

import org.jspecify.annotations.NullMarked;
