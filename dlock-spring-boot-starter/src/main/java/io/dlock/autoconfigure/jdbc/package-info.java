/**
 * Locks in a database, and fences in the database of the application. Start reading at
 * {@link DlockJdbcAutoConfiguration}. Knows its parent package and the JDBC store.
 */
@NullMarked
package io.dlock.autoconfigure.jdbc;

import org.jspecify.annotations.NullMarked;
