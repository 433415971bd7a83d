/**
 * Fencing of data in PostgreSQL, MySQL, MariaDB and H2.
 */
@NullMarked
package io.dlock.fencing.jdbc;

import org.jspecify.annotations.NullMarked;
