/**
 * Locks in a database: PostgreSQL, MySQL, MariaDB, H2. One table, one row per key.
 */
@NullMarked
package io.dlock.store.jdbc;

import org.jspecify.annotations.NullMarked;
