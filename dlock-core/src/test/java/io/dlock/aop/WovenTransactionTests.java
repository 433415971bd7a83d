package io.dlock.aop;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

import io.dlock.aop.call.InterruptedBodyTests;
import io.dlock.transaction.AsyncCommitTests;
import io.dlock.transaction.AsyncInsideTransactionTests;
import io.dlock.transaction.CommitCheckTests;
import io.dlock.transaction.SeveralKeysInTransactionsTests;
import io.dlock.transaction.TransactionBoundLockTests;

/**
 * The slower half of {@link WovenTests}: locks and transactions, and bodies that are
 * interrupted. The build runs both halves at the same time.
 */
@Tag("woven")
class WovenTransactionTests {

	@Nested
	class SeveralKeysInTransactions extends SeveralKeysInTransactionsTests {

	}

	@Nested
	class Transactions extends TransactionBoundLockTests {

	}

	@Nested
	class AsyncTransactions extends AsyncInsideTransactionTests {

	}

	@Nested
	class AsyncCommits extends AsyncCommitTests {

	}

	@Nested
	class Commits extends CommitCheckTests {

	}

	@Nested
	class InterruptedBodies extends InterruptedBodyTests {

	}

}
