/**
 * The SQL of the locks: statements, their parameters and the meaning of errors, one
 * dialect for each kind of database. Start reading at {@link LockDialect} and at the
 * statements of a database, such as {@link PostgreSqlLockSql}. Works on a given
 * connection, and knows neither pools nor threads.
 */
@NullMarked
package io.dlock.store.jdbc.dialect;

import org.jspecify.annotations.NullMarked;
