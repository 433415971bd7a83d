/**
 * Locks in a database: the store, its connections and the mailboxes of waiting processes.
 * One table, one row per key. Start reading at {@link JdbcLockStore}, then
 * {@link LockConnections}. The SQL is in {@code dialect}. Knows the SPI and how keys are
 * written, but not the engine.
 */
@NullMarked
package io.dlock.store.jdbc;

import org.jspecify.annotations.NullMarked;
