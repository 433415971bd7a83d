/**
 * Fencing of what is written to PostgreSQL, MySQL, MariaDB or H2.
 */
@NullMarked
package io.dlock.fencing.jdbc;

import org.jspecify.annotations.NullMarked;
