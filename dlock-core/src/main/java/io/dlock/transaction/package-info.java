/**
 * Locks and transactions: a lock that is taken inside a transaction is kept until its
 * end, and a transaction that has lost a lock is rolled back. Applications use
 * {@code InsideTransaction}, {@code CommitGuard} and
 * {@code LockCheckingTransactionManager}; the other types are for {@code io.dlock.aop},
 * which enters through {@code TransactionIntegration}. Start reading at
 * {@code SpringTransactionIntegration}. Knows {@code io.dlock}, and the order in which
 * stores lock rows.
 */
@NullMarked
package io.dlock.transaction;

import org.jspecify.annotations.NullMarked;
